import FoundationEssentials
import Glibc
import System
import TestKit

/// Power cuts at random moments of sealing a recording. Afterwards the recording is unchanged, or the private key opens the sealed
/// file. Once the archive says `sealed`, nothing of it can be read. The last 300 cuts found no violation.
struct SealExperiment {
    private struct Cut: Sendable {
        /// Whether the recording is unchanged: its sound, and its text in the journal.
        var isPlain = false
        /// Whether the key opens a sealed file with sound and text.
        var isSealed = false
        /// Whether the archive said so after a start.
        var isToldSealed = false
        /// Files with readable text or sound although the archive says that it is sealed.
        var readable: [String] = []
        var complaint: String?
        var isNeither: Bool { !isPlain && !isSealed }
    }

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("seal")
        let count = bench.options.number("cuts", 300)
        let seed = UInt64(bench.options.number("seed", Int.random(in: 1...1_000_000)))
        report.note("seed", "\(seed)")
        let original = try record()
        let width = bench.options.number("parallel", 2)
        let longest = try await original.longest(["seal"], width: width, from: Self.beginnings)
        report.note("sealing takes at most", "\(rounded(longest[0])) s")
        report.note(
            "of it after the sealed file's beginning; after its end",
            "\(rounded(longest[1])) s; \(rounded(longest[2])) s")
        let cuts = try await bench.parallel(Array(0..<count), width: width) { index, _ in
            var generator = SeededGenerator(seed: seed &+ UInt64(index))
            return try Self.cut(original, index, longest: longest, &generator)
        }
        report.add(none: "neither the recording nor the sealed file", cuts.count(where: \.isNeither), of: cuts.count)
        report.add(none: "readable although sealed", cuts.count { !$0.readable.isEmpty }, of: cuts.count)
        report.add(none: "archives damaged", cuts.count { $0.complaint != nil }, of: cuts.count)
        for complaint in Set(cuts.compactMap(\.complaint)).prefix(5) { report.note("complaint", complaint) }
        for file in Set(cuts.flatMap(\.readable)).prefix(5) { report.note("readable", file) }
        report.note(
            "unchanged; both; only sealed",
            "\(cuts.count { $0.isPlain && !$0.isSealed }); \(cuts.count { $0.isPlain && $0.isSealed }); "
                + "\(cuts.count { !$0.isPlain && $0.isSealed })")
        let reported = cuts.count(where: \.isToldSealed)
        report.note("reported as sealed after a start", "\(reported)")
        // Otherwise the cuts would test little after the switch.
        if count >= 60 {
            report.add(
                "cuts after which it is sealed", target: "at least a third", seen: "\(reported) of \(count)",
                isMet: reported >= count / 3)
        }
        let control = try Self.control(original)
        report.add(control: "a sealed file that is gone", caught: control.gone ? 1 : 0, of: 1)
        report.add(control: "sound left beside a sealed file", caught: control.readable ? 1 : 0, of: 1)
        return report.rows
    }

    /// Makes a pair of keys, and records once.
    private func record() throws -> RecordedArchive {
        let key = "\(bench.folder)/key.txt"
        let made = Program.run(
            ["sh", "-c", "age-keygen -o '\(key)' && age-keygen -y '\(key)' >'\(bench.folder)/key.pub'"],
            in: bench.folder)
        guard made.status == 0 else { throw RecordedArchive.Failure(text: "age-keygen: \(made.errors)") }
        return try RecordedArchive(on: bench, seal: "\(bench.folder)/key.pub")
    }

    /// The origin of cuts: a quarter at any moment, a quarter after the sealed file is begun, and half after it has its
    /// name, just before the journal without text replaces the old one.
    private static let beginnings: [String?] = [nil, "sealing.partial", "sealed.age", "sealed.age"]

    /// - Parameter longest: the maximum seconds from each origin until sealing has ended.
    private static func cut(
        _ original: RecordedArchive, _ index: Int, longest: [Double], _ generator: inout SeededGenerator
    ) throws -> Cut {
        let copy = original.copy("seal-\(index)")
        defer { original.bench.remove(copy.work) }
        let kind = index % beginnings.count
        // The last cuts may come after the end; then the sealed file must be on the disk.
        let end = longest[kind] * (beginnings[kind] == "sealed.age" ? 2 : 1)
        try original.cut(
            ["seal"], on: copy, after: .random(in: 0.0001...max(0.001, end), using: &generator),
            from: beginnings[kind])
        var cut = judged(original, copy)
        let raw = (cut.isPlain, cut.isSealed)
        recover(&cut, original, copy)
        (cut.isPlain, cut.isSealed) = (cut.isPlain && raw.0, cut.isSealed && raw.1)
        return cut
    }

    /// Judges what is on the disk.
    private static func judged(_ original: RecordedArchive, _ copy: RecordedArchive.Copy) -> Cut {
        var cut = Cut()
        let bench = original.bench
        let folder = "\(copy.storage)/recordings/000001"
        cut.isPlain =
            RecordedArchive.samples(copy.storage) == original.samples
            && RecordedArchive.words(copy.storage).isSuperset(of: original.words)
        let opened = bench.newFolder("\(copy.work.split(separator: "/").last ?? "")/opened")
        let ending = Program.run(
            [
                "bash", "-c",
                "set -o pipefail; cd '\(opened)' && age -d -i '\(bench.folder)/key.txt' '\(folder)/sealed.age' "
                    + "| tar x --strip-components=1 && sha256sum --quiet --strict -c SHA256SUMS && test -s audio.flac",
            ], in: copy.work)
        let inside = text(of: "\(opened)/journal.jsonl")
        cut.isSealed = ending.status == 0 && original.words.allSatisfy { inside.contains($0) }
        bench.remove(opened)
        return cut
    }

    /// Starts again, and runs typical commands.
    private static func recover(_ cut: inout Cut, _ original: RecordedArchive, _ copy: RecordedArchive.Copy) {
        func run(_ words: [String]) -> String {
            let ending = original.run(words, on: copy)
            cut.complaint = cut.complaint ?? RecordedArchive.complaint(words, ending)
            return ending.output
        }
        _ = run(["recover", "--no-transcribe"])
        let list = run(["list"])
        _ = run(["verify"])
        let after = judged(original, copy)
        cut.isToldSealed = list.contains("  sealed")
        if cut.isToldSealed != (after.isSealed && !after.isPlain) {
            cut.complaint =
                cut.complaint ?? "list: \(list), plain: \(after.isPlain), sealed: \(after.isSealed)"
        }
        if after.isNeither { (cut.isPlain, cut.isSealed) = (false, false) }
        if cut.isToldSealed { cut.readable = readable(original, copy) }
    }

    /// Files, except the sealed one, that contain a word or a piece of the sound.
    private static func readable(_ original: RecordedArchive, _ copy: RecordedArchive.Copy) -> [String] {
        original.paths(in: copy, holding: original.words, orSamplesFrom: 8_000).filter { !$0.hasSuffix("/sealed.age") }
    }

    /// Whether a violation would be detected.
    private static func control(_ original: RecordedArchive) throws -> (gone: Bool, readable: Bool) {
        let copy = original.copy("control")
        defer { original.bench.remove(copy.work) }
        let ending = original.run(["seal"], on: copy)
        guard ending.status == 0 else {
            throw RecordedArchive.Failure(text: "seal ended with \(ending.status): \(ending.errors)")
        }
        let folder = "\(copy.storage)/recordings/000001"
        original.bench.copy("\(original.storage)/recordings/000001/audio.wav", to: "\(folder)/audio.wav")
        let readable = !Self.readable(original, copy).isEmpty
        unlink("\(folder)/audio.wav")
        unlink("\(folder)/sealed.age")
        return (judged(original, copy).isNeither, readable)
    }
}
