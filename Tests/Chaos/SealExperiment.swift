import FoundationEssentials
import Glibc
import System
import TestKit

/// Simulates power cuts at random times while a recording is sealed. Afterwards, the recording must be unchanged, or
/// the private key must open the sealed file. If the archive reports the recording as sealed, none of its text and
/// audio may be readable.
struct SealExperiment {
    private struct Cut: Sendable {
        /// Whether the audio and the text in the journal are unchanged.
        var isUnchanged = false
        /// Whether the key opens a sealed file with audio and text.
        var isSealed = false
        /// Whether the archive reported the recording as sealed after a start.
        var isReportedSealed = false
        /// The files with readable text or audio, if the recording is reported as sealed.
        var readableFiles: [String] = []
        var problem: String?
        var isLost: Bool { !isUnchanged && !isSealed }
    }

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("seal")
        let count = bench.options.integer("cuts", 300)
        let seed = UInt64(bench.options.integer("seed", Int.random(in: 1...1_000_000)))
        report.note("seed", "\(seed)")
        let original = try record()
        let width = bench.options.integer("parallel", 2)
        let longest = try await original.maximumSeconds(["seal"], width: width, from: Self.startFiles)
        report.note("sealing takes at most", "\(rounded(longest[0])) s")
        report.note(
            "after the sealed file was created; after it was complete",
            "\(rounded(longest[1])) s; \(rounded(longest[2])) s")
        let cuts = try await bench.parallel(Array(0..<count), width: width) { index, _ in
            var generator = SeededGenerator(seed: seed &+ UInt64(index))
            return try Self.cut(original, index, longest: longest, &generator)
        }
        report.add(
            none: "neither an unchanged recording nor a sealed file", cuts.count(where: \.isLost), of: cuts.count)
        report.add(none: "readable although sealed", cuts.count { !$0.readableFiles.isEmpty }, of: cuts.count)
        report.add(none: "archives damaged", cuts.count { $0.problem != nil }, of: cuts.count)
        for problem in Set(cuts.compactMap(\.problem)).prefix(5) { report.note("problem", problem) }
        for file in Set(cuts.flatMap(\.readableFiles)).prefix(5) { report.note("readable", file) }
        report.note(
            "unchanged; both; only sealed",
            "\(cuts.count { $0.isUnchanged && !$0.isSealed }); \(cuts.count { $0.isUnchanged && $0.isSealed }); "
                + "\(cuts.count { !$0.isUnchanged && $0.isSealed })")
        let reported = cuts.count(where: \.isReportedSealed)
        report.note("reported as sealed after a start", "\(reported)")
        // With fewer than 60 cuts, too few come after the rename.
        if count >= 60 {
            report.add(
                "cuts after which the recording is sealed", target: "at least a third", seen: "\(reported) of \(count)",
                isMet: reported >= count / 3)
        }
        let control = try Self.control(original)
        report.add(control: "a missing sealed file", caught: control.missingFile ? 1 : 0, of: 1)
        report.add(control: "audio left beside a sealed file", caught: control.audio ? 1 : 0, of: 1)
        return report.rows
    }

    /// Creates a key pair and a recording.
    private func record() throws -> RecordedArchive {
        let key = "\(bench.folder)/key.txt"
        let keygen = Program.run(
            ["sh", "-c", "age-keygen -o '\(key)' && age-keygen -y '\(key)' >'\(bench.folder)/key.pub'"],
            in: bench.folder)
        guard keygen.status == 0 else { throw RecordedArchive.Failure(text: "age-keygen: \(keygen.errors)") }
        return try RecordedArchive(on: bench, seal: "\(bench.folder)/key.pub")
    }

    /// The files whose appearance starts the delay of a cut. A quarter of the cuts come at any time, a quarter after
    /// the sealed file is created, and half after it is renamed. Then a journal without text soon replaces the old one.
    private static let startFiles: [String?] = [nil, "sealing.partial", "sealed.age", "sealed.age"]

    /// - Parameter longest: for each start file, the maximum seconds from its appearance until sealing is finished.
    private static func cut(
        _ original: RecordedArchive, _ index: Int, longest: [Double], _ generator: inout SeededGenerator
    ) throws -> Cut {
        let copy = original.copy("seal-\(index)")
        defer { original.bench.remove(copy.work) }
        let startFileIndex = index % startFiles.count
        // Some cuts may come after sealing is finished; then the sealed file must be on the disk.
        let maximumDelay = longest[startFileIndex] * (startFiles[startFileIndex] == "sealed.age" ? 2 : 1)
        try original.cut(
            ["seal"], on: copy, after: .random(in: 0.0001...max(0.001, maximumDelay), using: &generator),
            from: startFiles[startFileIndex])
        var cut = judge(original, copy)
        let (wasUnchanged, wasSealed) = (cut.isUnchanged, cut.isSealed)
        recover(&cut, original, copy)
        (cut.isUnchanged, cut.isSealed) = (cut.isUnchanged && wasUnchanged, cut.isSealed && wasSealed)
        return cut
    }

    /// Checks the files on the disk.
    private static func judge(_ original: RecordedArchive, _ copy: RecordedArchive.Copy) -> Cut {
        var cut = Cut()
        let bench = original.bench
        let folder = "\(copy.storage)/recordings/000001"
        cut.isUnchanged =
            RecordedArchive.samples(copy.storage) == original.samples
            && RecordedArchive.words(copy.storage).isSuperset(of: original.words)
        let opened = bench.newFolder("\(copy.work.split(separator: "/").last ?? "")/opened")
        let result = Program.run(
            [
                "bash", "-c",
                "set -o pipefail; cd '\(opened)' && age -d -i '\(bench.folder)/key.txt' '\(folder)/sealed.age' "
                    + "| tar x --strip-components=1 && sha256sum --quiet --strict -c SHA256SUMS && test -s audio.flac",
            ], in: copy.work)
        let journal = text(of: "\(opened)/journal.jsonl")
        cut.isSealed = result.status == 0 && original.words.allSatisfy { journal.contains($0) }
        bench.remove(opened)
        return cut
    }

    /// Recovers, lists and verifies the archive, and adds the results to the cut.
    private static func recover(_ cut: inout Cut, _ original: RecordedArchive, _ copy: RecordedArchive.Copy) {
        func run(_ arguments: [String]) -> String {
            let result = original.run(arguments, on: copy)
            cut.problem = cut.problem ?? RecordedArchive.problem(arguments, result)
            return result.output
        }
        _ = run(["recover", "--no-transcribe"])
        let list = run(["list"])
        _ = run(["verify"])
        let after = judge(original, copy)
        cut.isReportedSealed = list.contains("  sealed")
        if cut.isReportedSealed != (after.isSealed && !after.isUnchanged) {
            cut.problem =
                cut.problem ?? "list: \(list), unchanged: \(after.isUnchanged), sealed: \(after.isSealed)"
        }
        if after.isLost { (cut.isUnchanged, cut.isSealed) = (false, false) }
        if cut.isReportedSealed { cut.readableFiles = readableFiles(original, copy) }
    }

    /// Returns the files, except the sealed file, that contain a word or audio of the recording in plain form.
    private static func readableFiles(_ original: RecordedArchive, _ copy: RecordedArchive.Copy) -> [String] {
        original.paths(in: copy, containing: original.words, orSamplesFrom: 8_000)
            .filter { !$0.hasSuffix("/sealed.age") }
    }

    /// Creates each violation, and returns whether it is detected.
    private static func control(_ original: RecordedArchive) throws -> (missingFile: Bool, audio: Bool) {
        let copy = original.copy("control")
        defer { original.bench.remove(copy.work) }
        let result = original.run(["seal"], on: copy)
        guard result.status == 0 else {
            throw RecordedArchive.Failure(text: "seal exited with status \(result.status): \(result.errors)")
        }
        let folder = "\(copy.storage)/recordings/000001"
        original.bench.copy("\(original.storage)/recordings/000001/audio.wav", to: "\(folder)/audio.wav")
        let isAudioFound = !Self.readableFiles(original, copy).isEmpty
        unlink("\(folder)/audio.wav")
        unlink("\(folder)/sealed.age")
        return (judge(original, copy).isLost, isAudioFound)
    }
}
