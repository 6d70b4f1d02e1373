import FoundationEssentials
import Glibc
import System
import TestKit

/// Simulates power cuts at random times during a redaction. After the next start, the recording must be unchanged or
/// redacted. If it is redacted, no file may contain the redacted words or audio. The history must always be intact.
struct RedactExperiment {
    private struct Cut: Sendable {
        var isUnchanged = false
        var isRedacted = false
        /// The files from which redacted text or audio can still be read.
        var readableFiles: [String] = []
        var problem: String?
    }

    /// The original archive, and the samples and words after a redaction.
    private struct Original: Sendable {
        var archive: RecordedArchive
        var redactedSamples: [Int16]
        /// The words that occur only in the redacted passage.
        var redactedWords: [String]
        var remainingWords: [String]
    }

    /// The passage to redact, in seconds.
    private static let range = (from: 0, to: 1)
    private static let command = ["redact", "1", "\(range.from)", "\(range.to)", "--yes"]

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("redact")
        let count = bench.options.integer("cuts", 300)
        let seed = UInt64(bench.options.integer("seed", Int.random(in: 1...1_000_000)))
        report.note("seed", "\(seed)")
        let original = try record()
        let width = bench.options.integer("parallel", 2)
        let longest = try await original.archive.maximumSeconds(Self.command, width: width)
        report.note("redacting takes at most", "\(rounded(longest)) s")
        let cuts = try await bench.parallel(Array(0..<count), width: width) { index, _ in
            var generator = SeededGenerator(seed: seed &+ UInt64(index))
            return try Self.cut(original, index, after: .random(in: 0.001...longest, using: &generator))
        }
        report.add(
            none: "neither unchanged nor redacted", cuts.count { !$0.isUnchanged && !$0.isRedacted }, of: cuts.count)
        report.add(none: "readable after the redaction", cuts.count { !$0.readableFiles.isEmpty }, of: cuts.count)
        report.add(
            none: "archives damaged, or a history reported as changed", cuts.count { $0.problem != nil },
            of: cuts.count)
        for problem in Set(cuts.compactMap(\.problem)).prefix(5) { report.note("problem", problem) }
        for file in Set(cuts.flatMap(\.readableFiles)).prefix(5) { report.note("readable", file) }
        report.note("unchanged; redacted", "\(cuts.count(where: \.isUnchanged)); \(cuts.count(where: \.isRedacted))")
        let control = try Self.control(original)
        report.add(control: "a word left after the redaction", caught: control.word ? 1 : 0, of: 1)
        report.add(control: "sound left after the redaction", caught: control.sound ? 1 : 0, of: 1)
        report.add(control: "a history with a missing entry", caught: control.history ? 1 : 0, of: 1)
        return report.rows
    }

    private func record() throws -> Original {
        let archive = try RecordedArchive(on: bench)
        let copy = archive.copy("redacted")
        defer { bench.remove(copy.work) }
        guard archive.run(Self.command, on: copy).status == 0 else {
            throw RecordedArchive.Failure(text: "redacting failed")
        }
        let remaining = RecordedArchive.words(copy.storage).sorted()
        let original = Original(
            archive: archive, redactedSamples: RecordedArchive.samples(copy.storage),
            redactedWords: Set(archive.words).subtracting(remaining).sorted(), remainingWords: remaining)
        let readableFiles = Self.readableFiles(original, copy)
        guard !original.redactedWords.isEmpty, !remaining.isEmpty,
            archive.samples.count == original.redactedSamples.count, readableFiles.isEmpty,
            archive.samples != original.redactedSamples
        else {
            throw RecordedArchive.Failure(
                text: "redacted: \(original.redactedWords), remaining: \(remaining), readable in \(readableFiles)")
        }
        return original
    }

    private static func cut(_ original: Original, _ index: Int, after seconds: Double) throws -> Cut {
        let copy = original.archive.copy("redact-\(index)")
        defer { original.archive.bench.remove(copy.work) }
        // Half of the cuts come at any time, the others after the redaction has begun.
        let isLate = index % 2 == 1
        try original.archive.cut(
            command, on: copy, after: isLate ? seconds / 4 : seconds, from: isLate ? ".striking" : nil)
        return judge(original, copy)
    }

    /// Recovers the archive, and checks the files on the disk.
    private static func judge(_ original: Original, _ copy: RecordedArchive.Copy) -> Cut {
        var cut = Cut()
        func run(_ arguments: [String]) -> String {
            let result = original.archive.run(arguments, on: copy)
            cut.problem = cut.problem ?? RecordedArchive.problem(arguments, result)
            return result.output
        }
        _ = run(["recover", "--no-transcribe"])
        _ = run(["verify"])
        let isReportedRedacted = run(["show", "1", "--format", "json"]).contains("\"struck\"")
        let (samples, words) = (RecordedArchive.samples(copy.storage), RecordedArchive.words(copy.storage))
        cut.isUnchanged =
            !isReportedRedacted && samples == original.archive.samples
            && words.isSuperset(of: original.redactedWords + original.remainingWords)
        cut.isRedacted =
            isReportedRedacted && samples == original.redactedSamples && words == Set(original.remainingWords)
        if isReportedRedacted { cut.readableFiles = readableFiles(original, copy) }
        return cut
    }

    /// Returns the files that contain a redacted word or redacted audio.
    private static func readableFiles(_ original: Original, _ copy: RecordedArchive.Copy) -> [String] {
        original.archive.paths(
            in: copy, containing: original.redactedWords, orSamplesFrom: (range.from + range.to) * 8_000)
    }

    /// Creates each violation, and returns whether it is detected.
    private static func control(_ original: Original) throws -> (word: Bool, sound: Bool, history: Bool) {
        let archive = original.archive
        let copy = archive.copy("control")
        defer { archive.bench.remove(copy.work) }
        guard archive.run(command, on: copy).status == 0 else {
            throw RecordedArchive.Failure(text: "redacting failed")
        }
        try durableReplace(path: "\(copy.storage)/left", with: "… \(original.redactedWords[0]) …")
        let word = readableFiles(original, copy) == ["/left"]
        unlink("\(copy.storage)/left")
        let audio = "/recordings/000001/audio.wav"
        archive.bench.copy(archive.storage + audio, to: copy.storage + audio)
        let sound = readableFiles(original, copy) == [audio]
        let history = "\(copy.storage)/history.jsonl"
        let lines = text(of: history).split(separator: "\n")
        try durableReplace(path: history, with: lines.dropFirst().joined(separator: "\n") + "\n")
        return (word, sound, judge(original, copy).problem?.contains("history.jsonl") == true)
    }
}
