import Core

/// The accuracy of a transcription, measured against a person's corrections. Nobody checks all of a long recording, so
/// there are two figures with the true rate between them: unchecked words count as right in one, and not at all in the
/// other.
package struct Accuracy: Hashable, Sendable {
    /// Words in a range of confidence: how many, and how many a person left unchanged.
    package struct Bin: Hashable, Sendable {
        /// The words in segments that a person changed or confirmed.
        package var words = 0
        /// The unchanged ones.
        package var right = 0
    }

    /// Errors against the whole text: a lower bound.
    package private(set) var whole = WordErrors()
    /// Errors in the segments that a person changed or confirmed: an upper bound.
    package private(set) var heard = WordErrors()
    /// By confidence: below 0.25, 0.5, 0.75, and above.
    package private(set) var bins = [Bin](repeating: Bin(), count: 4)

    /// Creates an empty count.
    package init() {}

    /// - Parameters:
    ///   - read: The engine's text.
    ///   - base: The text that the person saw.
    ///   - corrected: The corrected text, with the same segments as `base`.
    package init(of read: [Segment], base: [Segment], corrected: [Segment]) {
        // By range: added lines change the numbers.
        let before = Dictionary(base.map { ($0.range, $0) }) { first, _ in first }
        let words = read.flatMap(\.words)
        var next = 0
        for (index, segment) in corrected.enumerated() {
            // The words up to the next segment, wherever the engine cut.
            let end = index + 1 < corrected.count ? corrected[index + 1].range.start : SamplePosition(.max)
            let first = next
            while next < words.count, words[next].range.middle < end { next += 1 }
            let there = Array(words[first..<next])
            let errors = WordErrors(said: segment.text, read: there.map(\.text).joined(separator: " "))
            whole = whole + errors
            guard Self.isHeard(segment, before[segment.range]) else { continue }
            heard = heard + errors
            count(there, segment)
        }
    }

    /// Adds counts.
    package static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.whole = left.whole + right.whole
        sum.heard = left.heard + right.heard
        for (index, bin) in right.bins.enumerated() {
            sum.bins[index].words += bin.words
            sum.bins[index].right += bin.right
        }
        return sum
    }

    /// Whether a person changed or confirmed anything in it.
    private static func isHeard(_ segment: Segment, _ before: Segment?) -> Bool {
        guard let before else { return true }
        return segment.text != before.text
            || zip(segment.words, before.words).contains { $0.confidence == 1 && $1.confidence < 1 }
    }

    private mutating func count(_ words: [Word], _ segment: Segment) {
        let steps = WordErrors.align(segment.words.map(\.key), words.map(\.key))
        for step in steps {
            let place: (index: Int, isRight: Bool)
            switch step {
            case .same(_, let index): place = (index, true)
            case .substituted(_, let index), .inserted(let index): place = (index, false)
            case .deleted: continue
            }
            let bin = min(3, Int(words[place.index].confidence * 4))
            bins[bin].words += 1
            if place.isRight { bins[bin].right += 1 }
        }
    }
}

/// The accuracy of one reading, as in JSON.
package struct AccuracyRow: Encodable {
    package var recording: Int
    /// Its folder; nil on a recorder.
    package var recorder: String?
    /// When the recording started; nil in the office.
    package var started: String?
    /// The reading's number within the recording; nil in the office.
    package var pass: Int?
    package var engine: EngineDescription
    /// The engine's profile; nil in the office.
    package var profile: String?
    private var words, errors, heardWords, heardErrors: Int
    /// Word errors of the whole text.
    package private(set) var percent: Double
    /// Word errors of lines that a person changed or confirmed.
    package private(set) var heardPercent: Double

    /// Creates a row without the optional fields.
    package init(recording: Int, engine: EngineDescription, _ accuracy: Accuracy) {
        (self.recording, self.engine) = (recording, engine)
        (words, errors, percent) = (accuracy.whole.words, accuracy.whole.errors, accuracy.whole.roundedPercent)
        (heardWords, heardErrors) = (accuracy.heard.words, accuracy.heard.errors)
        heardPercent = accuracy.heard.roundedPercent
    }
}

/// The measured accuracy of one pass.
package struct MeasuredReading: Hashable, Sendable {
    /// Counted from 1 within the recording.
    package var number: Int
    package var pass: PassSummary
    package var accuracy: Accuracy
}

extension ArchiveReading {
    /// Returns the accuracy of each complete engine pass against the person's corrections; empty if nobody changed or
    /// confirmed a word.
    ///
    /// - Throws: `DeviceError` if the archive cannot be read.
    package func measuredReadings(of recording: Int) async throws -> [MeasuredReading] {
        let passes = try await passes(of: recording)
        guard let shown = try await shownPass(of: recording), shown.correction != nil,
            let heard = passes.heard(under: shown),
            let corrected = try await transcript(of: recording, pass: shown.id)?.1.segments,
            let base = try await transcript(of: recording, pass: heard.id)?.1.segments
        else { return [] }
        var measured: [MeasuredReading] = []
        for (index, pass) in passes.enumerated() where pass.correction == nil && pass.isComplete {
            guard let read = try await transcript(of: recording, pass: pass.id)?.1.segments else { continue }
            let accuracy = Accuracy(of: read, base: base, corrected: corrected)
            // Notes alone do not measure words.
            guard accuracy.heard.words + accuracy.heard.errors > 0 else { continue }
            measured.append(MeasuredReading(number: index + 1, pass: pass, accuracy: accuracy))
        }
        return measured
    }
}
