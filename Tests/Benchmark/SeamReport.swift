import Audio
import Core
import Recognition

/// Words lost and repeated at the seams between sessions.
///
/// The audio around each seam is transcribed again as one utterance, with the same profile. A word is lost if that text has
/// one within half a second of the seam and the transcript has none in most of its time; it is repeated if the transcript
/// has the same word on both sides and that text has it once.
///
/// Two transcripts of the same sound differ without a seam, too. So the same is measured in the middle of the session before
/// each seam, as a baseline.
struct SeamReport {
    private static let around = 4.0
    private static let near = 0.5

    /// Per 100 seams.
    struct Shares: Codable {
        var seams: Int
        var lost: Double
        var doubled: Double
        /// The same away from seams.
        var lostElsewhere: Double
        var doubledElsewhere: Double
    }

    private struct Findings {
        var lost: [String] = []
        var doubled: [String] = []

        /// Words lost and repeated per 100 places.
        func shares(of places: Int) -> (lost: Double, doubled: Double) {
            let share = 100 / Double(max(1, places))
            return (Double(lost.count) * share, Double(doubled.count) * share)
        }

        func text(of places: Int) -> String {
            let shares = shares(of: places)
            let words = (lost + doubled).isEmpty ? "" : " (\((lost + doubled).joined(separator: ", ")))"
            return "per 100: \(shown(shares.lost, 1)) words lost, \(shown(shares.doubled, 1)) doubled\(words)"
        }
    }

    private let read: (UnsafeBufferPointer<Int16>) throws -> [Word]
    private var seams = 0
    private var atSeams = Findings()
    private var within = Findings()

    var text: String {
        "\(seams) seams: \(atSeams.text(of: seams)); in the middle of as many sessions: \(within.text(of: seams))"
    }

    var shares: Shares {
        let (at, elsewhere) = (atSeams.shares(of: seams), within.shares(of: seams))
        return Shares(
            seams: seams, lost: at.lost, doubled: at.doubled, lostElsewhere: elsewhere.lost,
            doubledElsewhere: elsewhere.doubled)
    }

    /// - Parameter contender: the one that wrote the transcripts; it also transcribes the sound around their seams.
    init(_ contender: Contender, in workshop: Workshop) throws {
        switch contender.kind {
        case .moonshine:
            let recognizer = MoonshineRecognizer(
                try contender.moonshineReader(in: workshop),
                timing: try ForcedAligner(model: PocketSphinxModel(folder: PocketSphinxModel.debian)))
            read = { try recognizer.read($0, ReadingRequest()).words }
        case .pocketSphinx, .whisper, .continuous, .wheel:
            read = try contender.reader(in: workshop) ?? { _ in [] }
        }
    }

    /// Judges the seams of another transcript.
    mutating func add(_ transcript: TranscriptFile, wave: String) throws {
        let samples = try Self.samples(wave)
        for (left, right) in zip(transcript.segments, transcript.segments.dropFirst())
        where left.endedBy == .rotation {
            seams += 1
            try judge(left.end, of: samples, in: left.words + right.words, &atSeams)
            // Between two words: no word is cut there, as at a seam.
            let half = left.words.count / 2
            guard half > 0 else { continue }
            let middle = (left.words[half - 1].end + left.words[half].start) / 2
            try judge(middle, of: samples, in: left.words, &within)
        }
    }

    /// Compares the transcript's words around a moment with another transcript of that sound.
    private func judge(
        _ moment: Double, of samples: [Int16], in words: [TranscriptFile.Word], _ findings: inout Findings
    ) throws {
        let rate = Double(SamplePosition.rate)
        let from = max(0, Int((moment - Self.around) * rate))
        let to = min(samples.count, Int((moment + Self.around) * rate))
        let offset = Double(from) / rate
        let whole = try samples[from..<to].withUnsafeBufferPointer {
            try read($0)
        }
        for word in whole {
            let (start, end) = (offset + word.range.start.seconds, offset + word.range.end.seconds)
            let middle = (start + end) / 2
            let told = words.reduce(0) { $0 + max(0, min($1.end, end) - max($1.start, start)) }
            guard abs(middle - moment) <= Self.near, told * 2 < end - start,
                !Self.isHeard(word.key, near: middle, in: words)
            else { continue }
            findings.lost.append("\(word.text) at \(shown(middle, 2)) s")
        }
        if let before = words.last(where: { $0.end <= moment })?.key,
            before == words.first(where: { $0.start >= moment })?.key,
            !zip(whole, whole.dropFirst()).contains(where: { $0.key == before && $1.key == before })
        {
            findings.doubled.append("\(before) at \(shown(moment, 2)) s")
        }
    }

    /// Whether the transcript has a word at a slightly different time.
    private static func isHeard(_ word: String, near middle: Double, in words: [TranscriptFile.Word]) -> Bool {
        words.contains { $0.key == word && abs(($0.start + $0.end) / 2 - middle) < 0.3 }
    }

    static func samples(_ path: String) throws -> [Int16] { try AudioFileReader(path: path).samples() }
}
