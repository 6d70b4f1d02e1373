import FoundationEssentials
import Glibc
import System
import TestKit

/// Power cuts at random moments of a redaction. After the next start the recording is whole or redacted; if it is redacted, no file
/// contains the words or the sound, and the history is intact. The last 300 cuts found no violation.
struct RedactExperiment {
    private struct Cut: Sendable {
        var isWhole = false
        var isRedacted = false
        /// Files in which redacted text or sound can still be read.
        var readable: [String] = []
        var complaint: String?
    }

    /// The original, and the part left after the redaction.
    private struct Original: Sendable {
        var archive: RecordedArchive
        var redactedSamples: [Int16]
        /// The words that only the passage has, and those that stay.
        var words: [String]
        var rest: [String]
    }

    /// The passage, in seconds.
    private static let range = (from: 0, to: 1)
    private static let order = ["redact", "1", "\(range.from)", "\(range.to)", "--yes"]

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("redact")
        let count = bench.options.number("cuts", 300)
        let seed = UInt64(bench.options.number("seed", Int.random(in: 1...1_000_000)))
        report.note("seed", "\(seed)")
        let original = try record()
        let width = bench.options.number("parallel", 2)
        let longest = try await original.archive.longest(Self.order, width: width)
        report.note("redacting takes at most", "\(rounded(longest)) s")
        let cuts = try await bench.parallel(Array(0..<count), width: width) { index, _ in
            var generator = SeededGenerator(seed: seed &+ UInt64(index))
            return try Self.cut(original, index, after: .random(in: 0.001...longest, using: &generator))
        }
        report.add(none: "neither whole nor redacted", cuts.count { !$0.isWhole && !$0.isRedacted }, of: cuts.count)
        report.add(none: "readable after the redaction", cuts.count { !$0.readable.isEmpty }, of: cuts.count)
        report.add(
            none: "archives damaged, or a history reported as changed", cuts.count { $0.complaint != nil },
            of: cuts.count)
        for complaint in Set(cuts.compactMap(\.complaint)).prefix(5) { report.note("complaint", complaint) }
        for file in Set(cuts.flatMap(\.readable)).prefix(5) { report.note("readable", file) }
        report.note("whole; redacted", "\(cuts.count(where: \.isWhole)); \(cuts.count(where: \.isRedacted))")
        let control = try Self.control(original)
        report.add(control: "a word left after the redaction", caught: control.word ? 1 : 0, of: 1)
        report.add(control: "sound left after the redaction", caught: control.sound ? 1 : 0, of: 1)
        report.add(control: "an entry of the history that is gone", caught: control.history ? 1 : 0, of: 1)
        return report.rows
    }

    private func record() throws -> Original {
        let archive = try RecordedArchive(on: bench)
        let copy = archive.copy("redacted")
        defer { bench.remove(copy.work) }
        guard archive.run(Self.order, on: copy).status == 0 else {
            throw RecordedArchive.Failure(text: "nothing was redacted")
        }
        let rest = RecordedArchive.words(copy.storage).sorted()
        let original = Original(
            archive: archive, redactedSamples: RecordedArchive.samples(copy.storage),
            words: Set(archive.words).subtracting(rest).sorted(), rest: rest)
        let readable = Self.readable(original, copy)
        guard !original.words.isEmpty, !rest.isEmpty, archive.samples.count == original.redactedSamples.count,
            readable.isEmpty, archive.samples != original.redactedSamples
        else {
            throw RecordedArchive.Failure(text: "redacted: \(original.words), left: \(rest), in \(readable)")
        }
        return original
    }

    private static func cut(_ original: Original, _ index: Int, after seconds: Double) throws -> Cut {
        let copy = original.archive.copy("redact-\(index)")
        defer { original.archive.bench.remove(copy.work) }
        // Half of the cuts come at any moment, the others once the redaction has begun.
        let isLate = index % 2 == 1
        try original.archive.cut(
            order, on: copy, after: isLate ? seconds / 4 : seconds, from: isLate ? ".striking" : nil)
        return judged(original, copy)
    }

    /// Starts again, and judges what is on the disk.
    private static func judged(_ original: Original, _ copy: RecordedArchive.Copy) -> Cut {
        var cut = Cut()
        func run(_ words: [String]) -> String {
            let ending = original.archive.run(words, on: copy)
            cut.complaint = cut.complaint ?? RecordedArchive.complaint(words, ending)
            return ending.output
        }
        _ = run(["recover", "--no-transcribe"])
        _ = run(["verify"])
        let isTold = run(["show", "1", "--format", "json"]).contains("\"struck\"")
        let (samples, words) = (RecordedArchive.samples(copy.storage), RecordedArchive.words(copy.storage))
        cut.isWhole =
            !isTold && samples == original.archive.samples && words.isSuperset(of: original.words + original.rest)
        cut.isRedacted = isTold && samples == original.redactedSamples && words == Set(original.rest)
        if isTold { cut.readable = readable(original, copy) }
        return cut
    }

    /// Files that hold a redacted word or redacted sound.
    private static func readable(_ original: Original, _ copy: RecordedArchive.Copy) -> [String] {
        original.archive.paths(in: copy, holding: original.words, orSamplesFrom: (range.from + range.to) * 8_000)
    }

    /// Whether a violation would be detected.
    private static func control(_ original: Original) throws -> (word: Bool, sound: Bool, history: Bool) {
        let archive = original.archive
        let copy = archive.copy("control")
        defer { archive.bench.remove(copy.work) }
        guard archive.run(order, on: copy).status == 0 else {
            throw RecordedArchive.Failure(text: "nothing was redacted")
        }
        try durableReplace(path: "\(copy.storage)/left", with: "… \(original.words[0]) …")
        let word = readable(original, copy) == ["/left"]
        unlink("\(copy.storage)/left")
        let audio = "/recordings/000001/audio.wav"
        archive.bench.copy(archive.storage + audio, to: copy.storage + audio)
        let sound = readable(original, copy) == [audio]
        let history = "\(copy.storage)/history.jsonl"
        let lines = text(of: history).split(separator: "\n")
        try durableReplace(path: history, with: lines.dropFirst().joined(separator: "\n") + "\n")
        return (word, sound, judged(original, copy).complaint?.contains("history.jsonl") == true)
    }
}
