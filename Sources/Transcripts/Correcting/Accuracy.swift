import Core

/// The accuracy of a transcription, measured against a person's corrections.
///
/// Nobody checks all of a long recording, so there are two error rates. `whole` assumes that every line of the
/// corrected transcript is right; `checked` counts only the checked lines. The true rate is probably between them.
package struct Accuracy: Hashable, Sendable {
    /// The words in one range of confidence.
    package struct Bin: Hashable, Sendable {
        /// The number of recognized words in segments that a person changed or confirmed.
        package var words = 0
        /// The number of those words that the corrected transcript also has.
        package var right = 0
    }

    /// Errors in the whole transcript: a lower bound.
    package private(set) var whole = WordErrors()
    /// Errors in the segments that a person changed or confirmed: an upper bound.
    package private(set) var checked = WordErrors()
    /// Words by confidence: below 0.25, below 0.5, below 0.75, and 0.75 or more.
    package private(set) var bins = [Bin](repeating: Bin(), count: 4)

    /// Creates an accuracy with all counts 0.
    package init() {}

    /// - Parameters:
    ///   - recognized: The engine's transcript.
    ///   - base: The transcript that the person saw.
    ///   - corrected: The corrected transcript. A segment whose range is not in `base` counts as checked.
    package init(of recognized: [Segment], base: [Segment], corrected: [Segment]) {
        // Segments are found by range: their ids change when a person adds lines.
        let baseSegments = Dictionary(base.map { ($0.range, $0) }) { first, _ in first }
        let words = recognized.flatMap(\.words)
        var nextWord = 0
        for (index, segment) in corrected.enumerated() {
            // Compares with the words up to the next segment, because the engine's own segments may differ.
            let end = index + 1 < corrected.count ? corrected[index + 1].range.start : SamplePosition(.max)
            let firstWord = nextWord
            while nextWord < words.count, words[nextWord].range.middle < end { nextWord += 1 }
            let segmentWords = Array(words[firstWord..<nextWord])
            let recognizedText = segmentWords.map(\.text).joined(separator: " ")
            let errors = WordErrors(referenceText: segment.text, hypothesisText: recognizedText)
            whole = whole + errors
            guard Self.isChecked(segment, baseSegments[segment.range]) else { continue }
            checked = checked + errors
            count(segmentWords, segment)
        }
    }

    /// Adds counts.
    package static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.whole = left.whole + right.whole
        sum.checked = left.checked + right.checked
        for (index, bin) in right.bins.enumerated() {
            sum.bins[index].words += bin.words
            sum.bins[index].right += bin.right
        }
        return sum
    }

    /// Whether a person changed or confirmed anything in a segment.
    private static func isChecked(_ segment: Segment, _ base: Segment?) -> Bool {
        guard let base else { return true }
        return segment.text != base.text
            || zip(segment.words, base.words).contains { $0.confidence == 1 && $1.confidence < 1 }
    }

    private mutating func count(_ words: [Word], _ segment: Segment) {
        let steps = WordErrors.align(segment.words.map(\.key), words.map(\.key))
        for step in steps {
            let word: (index: Int, isRight: Bool)
            switch step {
            case .same(_, let index): word = (index, true)
            case .substituted(_, let index), .inserted(let index): word = (index, false)
            case .deleted: continue
            }
            let bin = min(3, Int(words[word.index].confidence * 4))
            bins[bin].words += 1
            if word.isRight { bins[bin].right += 1 }
        }
    }
}

/// The accuracy of one transcript, for JSON.
package struct AccuracyRow: Encodable {
    package var recording: Int
    /// The recorder's folder in the office; nil on a recorder.
    package var recorder: String?
    /// When the recording started; nil in the office.
    package var started: String?
    /// The pass, counted from 1 within the recording; nil in the office.
    package var pass: Int?
    package var engine: EngineDescription
    /// The engine's profile; nil in the office.
    package var profile: String?
    private var words, errors, heardWords, heardErrors: Int
    /// The word error rate of the whole transcript, in percent.
    package private(set) var percent: Double
    /// The word error rate of the lines that a person changed or confirmed, in percent.
    package private(set) var heardPercent: Double

    /// Creates a row without the optional fields.
    package init(recording: Int, engine: EngineDescription, _ accuracy: Accuracy) {
        (self.recording, self.engine) = (recording, engine)
        (words, errors, percent) = (accuracy.whole.words, accuracy.whole.errors, accuracy.whole.roundedPercent)
        (heardWords, heardErrors) = (accuracy.checked.words, accuracy.checked.errors)
        heardPercent = accuracy.checked.roundedPercent
    }
}

/// The measured accuracy of one pass.
package struct MeasuredPass: Hashable, Sendable {
    /// The pass, counted from 1 within the recording.
    package var number: Int
    package var pass: PassSummary
    package var accuracy: Accuracy
}

extension ArchiveReading {
    /// Returns the accuracy of each complete engine pass against the person's corrections; empty if nobody changed or
    /// confirmed a word.
    ///
    /// - Throws: `DeviceError` if the archive cannot be read.
    package func measuredPasses(of recording: Int) async throws -> [MeasuredPass] {
        let passes = try await passes(of: recording)
        guard let correctedPass = try await shownPass(of: recording), correctedPass.correction != nil,
            let basePass = passes.enginePass(under: correctedPass),
            let corrected = try await transcript(of: recording, pass: correctedPass.id)?.1.segments,
            let base = try await transcript(of: recording, pass: basePass.id)?.1.segments
        else { return [] }
        var measured: [MeasuredPass] = []
        for (index, pass) in passes.enumerated() where pass.correction == nil && pass.isComplete {
            guard let recognized = try await transcript(of: recording, pass: pass.id)?.1.segments else { continue }
            let accuracy = Accuracy(of: recognized, base: base, corrected: corrected)
            // There are no checked words if the person only added notes.
            guard accuracy.checked.words + accuracy.checked.errors > 0 else { continue }
            measured.append(MeasuredPass(number: index + 1, pass: pass, accuracy: accuracy))
        }
        return measured
    }
}
