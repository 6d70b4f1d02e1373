import Audio
import Core
import Recognition

/// Counts words that are lost or repeated at the seams between recognition sessions.
///
/// Recognizes the audio around each seam again as one utterance, with the same profile. A word of this second
/// transcript is lost if it is within half a second of the seam, words of the first transcript cover less than half of
/// its duration, and the same word is not nearby. A word is repeated if the first transcript has it on both sides of
/// the seam, but the second does not have it twice in a row.
///
/// Two transcripts of the same audio differ even if there is no seam. As a baseline, the same is measured in the middle
/// of the session before each seam.
struct SeamReport {
    /// The seconds before and after a seam that are recognized again.
    private static let context = 4.0
    private static let tolerance = 0.5

    /// Lost and repeated words per 100 seams.
    struct Shares: Codable {
        var seams: Int
        var lost: Double
        var doubled: Double
        /// Per 100 positions away from seams.
        var lostElsewhere: Double
        var doubledElsewhere: Double
    }

    private struct Findings {
        var lost: [String] = []
        var doubled: [String] = []

        /// Returns the words lost and repeated per 100 positions.
        func shares(of positions: Int) -> (lost: Double, doubled: Double) {
            let share = 100 / Double(max(1, positions))
            return (Double(lost.count) * share, Double(doubled.count) * share)
        }

        func text(of positions: Int) -> String {
            let shares = shares(of: positions)
            let words = (lost + doubled).isEmpty ? "" : " (\((lost + doubled).joined(separator: ", ")))"
            return "per 100: \(formatted(shares.lost, 1)) words lost, \(formatted(shares.doubled, 1)) repeated\(words)"
        }
    }

    private let recognize: (UnsafeBufferPointer<Int16>) throws -> [Word]
    private var seams = 0
    private var atSeams = Findings()
    private var baseline = Findings()

    var text: String {
        "\(seams) seams: \(atSeams.text(of: seams)); in the middle of as many sessions: \(baseline.text(of: seams))"
    }

    var shares: Shares {
        let (at, elsewhere) = (atSeams.shares(of: seams), baseline.shares(of: seams))
        return Shares(
            seams: seams, lost: at.lost, doubled: at.doubled, lostElsewhere: elsewhere.lost,
            doubledElsewhere: elsewhere.doubled)
    }

    /// - Parameter contender: the contender that transcribed the audio; also recognizes the audio around seams.
    init(_ contender: Contender, in harness: Harness) throws {
        switch contender.kind {
        case .moonshine:
            let recognizer = MoonshineRecognizer(
                try contender.moonshineReader(in: harness),
                timing: try ForcedAligner(model: PocketSphinxModel(folder: PocketSphinxModel.debian)))
            recognize = { try recognizer.recognize($0, options: RecognitionOptions()).words }
        case .pocketSphinx, .whisper, .continuous, .moonshineVoice:
            recognize = try contender.reader(in: harness) ?? { _ in [] }
        }
    }

    /// Judges the seams of a transcript, and adds the findings.
    mutating func add(_ transcript: TranscriptFile, wave: String) throws {
        let samples = try Self.samples(wave)
        for (left, right) in zip(transcript.segments, transcript.segments.dropFirst())
        where left.endedBy == .rotation {
            seams += 1
            try judge(left.end, of: samples, in: left.words + right.words, &atSeams)
            // Puts the baseline position between two words, so that no word is cut.
            let half = left.words.count / 2
            guard half > 0 else { continue }
            let middle = (left.words[half - 1].end + left.words[half].start) / 2
            try judge(middle, of: samples, in: left.words, &baseline)
        }
    }

    /// Compares the transcript's words around a time with a second transcript of that audio.
    private func judge(
        _ time: Double, of samples: [Int16], in words: [TranscriptFile.Word], _ findings: inout Findings
    ) throws {
        let rate = Double(SamplePosition.rate)
        let from = max(0, Int((time - Self.context) * rate))
        let to = min(samples.count, Int((time + Self.context) * rate))
        let offset = Double(from) / rate
        let secondPass = try samples[from..<to].withUnsafeBufferPointer {
            try recognize($0)
        }
        for word in secondPass {
            let (start, end) = (offset + word.range.start.seconds, offset + word.range.end.seconds)
            let middle = (start + end) / 2
            let covered = words.reduce(0) { $0 + max(0, min($1.end, end) - max($1.start, start)) }
            guard abs(middle - time) <= Self.tolerance, covered * 2 < end - start,
                !Self.contains(word.key, near: middle, in: words)
            else { continue }
            findings.lost.append("\(word.text) at \(formatted(middle, 2)) s")
        }
        if let before = words.last(where: { $0.end <= time })?.key,
            before == words.first(where: { $0.start >= time })?.key,
            !zip(secondPass, secondPass.dropFirst()).contains(where: { $0.key == before && $1.key == before })
        {
            findings.doubled.append("\(before) at \(formatted(time, 2)) s")
        }
    }

    /// Whether the transcript has this word within 0.3 s of a time.
    private static func contains(_ word: String, near middle: Double, in words: [TranscriptFile.Word]) -> Bool {
        words.contains { $0.key == word && abs(($0.start + $0.end) / 2 - middle) < 0.3 }
    }

    static func samples(_ path: String) throws -> [Int16] { try AudioFileReader(path: path).samples() }
}
