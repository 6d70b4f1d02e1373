import FoundationEssentials
import Glibc
import Platform

/// Power cuts at random moments of sealing a recording: what is left is the recording as it was, or the sealed file, which the private
/// key opens, and never neither; and once the archive says that it is sealed, nothing of it can be read.
struct SealExperiment {
    private struct Cut: Sendable {
        /// Whether the recording is there as it was: its sound, and its text in the journal.
        var isPlain = false
        /// Whether a sealed file is there that the key opens, with sound and text in it.
        var isSealed = false
        /// Whether the archive said so after a start.
        var isToldSealed = false
        /// Files in which text or sound can be read although the archive says that it is sealed.
        var readable: [String] = []
        var complaint: String?
        var isNeither: Bool { !isPlain && !isSealed }
    }

    /// What was recorded.
    private struct Original: Sendable {
        var storage: String
        var samples: [Int16]
        /// Words that stand nowhere else.
        var words: [String]
    }

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("seal")
        let count = bench.options.number("cuts", 300)
        let seed = UInt64(bench.options.number("seed", Int.random(in: 1...1_000_000)))
        report.note("seed", "\(seed)")
        let original = try record()
        // How long it takes, beside as many others as there will be.
        let width = bench.options.number("parallel", 2)
        let times = try await bench.parallel(Array(0..<width * 3), width: width) { [bench] index, _ in
            let (work, storage) = try Self.copy(of: original, "timing-\(index)", on: bench)
            defer { bench.remove(work) }
            let began = MonotonicClock.nanoseconds
            let ending = Program.run(
                Self.words(storage, bench), in: work, environment: Self.environment(work, storage, bench))
            guard ending.status == 0 else { throw Failure(text: "seal ended with \(ending.status): \(ending.errors)") }
            return Double(MonotonicClock.nanoseconds - began) / 1e9
        }
        let longest = times.max() ?? 1
        report.note("sealing takes at most", "\(rounded(longest)) s")
        let cuts = try await bench.parallel(Array(0..<count), width: width) { [bench] index, _ in
            var generator = Random(seed: seed &+ UInt64(index))
            return try Self.cut(original, index, after: generator.seconds(in: 0.01...longest), on: bench)
        }
        report.add(none: "neither the recording nor the sealed file", cuts.count(where: \.isNeither), of: cuts.count)
        report.add(none: "readable behind sealed", cuts.count { !$0.readable.isEmpty }, of: cuts.count)
        report.add(none: "archives not whole", cuts.count { $0.complaint != nil }, of: cuts.count)
        for complaint in Set(cuts.compactMap(\.complaint)).prefix(5) { report.note("complaint", complaint) }
        for file in Set(cuts.flatMap(\.readable)).prefix(5) { report.note("readable", file) }
        report.note(
            "left as they were; both there; sealed alone",
            "\(cuts.count { $0.isPlain && !$0.isSealed }); \(cuts.count { $0.isPlain && $0.isSealed }); "
                + "\(cuts.count { !$0.isPlain && $0.isSealed })")
        report.note("told to be sealed after a start", "\(cuts.count(where: \.isToldSealed))")
        let control = try Self.control(original, on: bench)
        report.add(control: "a sealed file that is gone", caught: control.gone ? 1 : 0, of: 1)
        report.add(control: "sound left beside a sealed file", caught: control.readable ? 1 : 0, of: 1)
        return report.rows
    }

    private struct Failure: Error { var text: String }

    /// Records once, and makes a pair of keys.
    private func record() throws -> Original {
        let storage = bench.newFolder("original")
        let key = "\(bench.folder)/key.txt"
        let made = Program.run(
            ["sh", "-c", "age-keygen -o '\(key)' && age-keygen -y '\(key)' >'\(bench.folder)/key.pub'"],
            in: bench.folder)
        guard made.status == 0 else { throw Failure(text: "age-keygen: \(made.errors)") }
        try durableReplace(
            path: "\(bench.folder)/seal.conf",
            with: "[recognizer]\nworkers = 1\nsecond-pass = no\n\n[storage]\nreserve-megabytes = 16\nseal = "
                + "\(bench.folder)/key.pub\n")
        let ending = Program.run(
            bench.record(to: storage, seconds: 5), in: bench.folder, environment: bench.environment(storage: storage))
        let journal = text(of: "\(storage)/recordings/000001/journal.jsonl")
        let words = Set(
            journal.split { !$0.isLetter && !$0.isNumber }.filter { $0.hasPrefix("word") && $0.count > 5 }.map(
                String.init))
        let samples = WaveContent(path: "\(storage)/recordings/000001/audio.wav")?.samples ?? []
        guard ending.status == 0, !words.isEmpty, samples.count > 16_000 else {
            throw Failure(text: "nothing was recorded: \(ending.status): \(ending.errors)")
        }
        return Original(storage: storage, samples: samples, words: words.sorted())
    }

    private static func words(_ storage: String, _ bench: Bench) -> [String] {
        [bench.fieldscribe, "seal", "--directory", storage, "--config", "\(bench.folder)/seal.conf"]
    }

    private static func environment(_ work: String, _ storage: String, _ bench: Bench) -> [String: String] {
        bench.environment(
            storage: storage, faults: ["FAULT_STATE": "\(work)/state", "FAULT_JOURNAL": "\(work)/journal"])
    }

    private static func copy(
        of original: Original, _ name: String, on bench: Bench
    ) throws -> (work: String, storage: String) {
        let work = bench.newFolder(name)
        bench.copy(original.storage, to: "\(work)/storage")
        return (work, "\(work)/storage")
    }

    private static func cut(
        _ original: Original, _ index: Int, after seconds: Double, on bench: Bench
    ) throws -> Cut {
        let (work, storage) = try copy(of: original, "seal-\(index)", on: bench)
        defer { bench.remove(work) }
        let program = try Program(
            words(storage, bench), in: work, environment: environment(work, storage, bench))
        // Every other cut comes at any moment, the others from when the sealed file is begun.
        let file = "\(storage)/recordings/000001/sealing.partial"
        let end = MonotonicClock.nanoseconds + 10_000_000_000
        while index % 2 == 1, access(file, F_OK) != 0, MonotonicClock.nanoseconds < end { usleep(200) }
        usleep(UInt32((index % 2 == 1 ? seconds / 2 : seconds) * 1e6))
        program.signal(SIGKILL)
        _ = program.wait(seconds: 10)
        _ = try PowerCut(journal: "\(work)/journal", storage: storage).apply()
        var cut = judged(original, storage, work, on: bench)
        let raw = (cut.isPlain, cut.isSealed)
        recover(&cut, original, storage, work, on: bench)
        (cut.isPlain, cut.isSealed) = (cut.isPlain && raw.0, cut.isSealed && raw.1)
        return cut
    }

    /// What lies there.
    private static func judged(_ original: Original, _ storage: String, _ work: String, on bench: Bench) -> Cut {
        var cut = Cut()
        let folder = "\(storage)/recordings/000001"
        let journal = text(of: "\(folder)/journal.jsonl")
        cut.isPlain =
            WaveContent(path: "\(folder)/audio.wav")?.samples == original.samples
            && original.words.allSatisfy { journal.contains($0) }
        let opened = bench.newFolder("\(work.split(separator: "/").last ?? "")/opened")
        let ending = Program.run(
            [
                "bash", "-c",
                "set -o pipefail; cd '\(opened)' && age -d -i '\(bench.folder)/key.txt' '\(folder)/sealed.age' "
                    + "| tar x --strip-components=1 && sha256sum --quiet --strict -c SHA256SUMS && test -s audio.flac",
            ], in: work)
        let inside = text(of: "\(opened)/journal.jsonl")
        cut.isSealed = ending.status == 0 && original.words.allSatisfy { inside.contains($0) }
        bench.remove(opened)
        return cut
    }

    /// Starts anew, and asks what a person would.
    private static func recover(
        _ cut: inout Cut, _ original: Original, _ storage: String, _ work: String, on bench: Bench
    ) {
        let usual = ["--directory", storage, "--config", "\(bench.folder)/seal.conf"]
        func run(_ words: [String]) -> Program.Ending {
            let ending = Program.run([bench.fieldscribe] + words + usual, in: work)
            if ending.status != 0 || ending.output.contains("history.jsonl") {
                cut.complaint =
                    cut.complaint ?? "\(words[0]) ended with \(ending.status): \(ending.errors)\(ending.output)"
            }
            return ending
        }
        _ = run(["recover", "--no-transcribe"])
        let list = run(["list"]).output
        _ = run(["verify"])
        let after = judged(original, storage, work, on: bench)
        cut.isToldSealed = list.contains("  sealed")
        if cut.isToldSealed != (after.isSealed && !after.isPlain) {
            cut.complaint =
                cut.complaint ?? "told: \(list), and there is plain: \(after.isPlain), sealed: \(after.isSealed)"
        }
        if after.isNeither { (cut.isPlain, cut.isSealed) = (false, false) }
        if cut.isToldSealed { cut.readable = readable(original, storage) }
    }

    /// Files but the sealed one that hold a word or stretch of sound.
    private static func readable(_ original: Original, _ storage: String) -> [String] {
        let sound = original.samples[8_000..<8_016].flatMap {
            [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
        }
        let needles = original.words.map { Array($0.utf8) } + [sound]
        return files(below: storage).filter { path in
            let held = bytes(of: path)
            return !path.hasSuffix("/sealed.age") && needles.contains { holds(held, $0) }
        }.map { String($0.dropFirst(storage.utf8.count)) }
    }

    static func holds(_ held: [UInt8], _ needle: [UInt8]) -> Bool {
        guard let first = needle.first, held.count >= needle.count else { return false }
        return held.indices.dropLast(needle.count - 1).contains { start in
            held[start] == first && held[start..<start + needle.count].elementsEqual(needle)
        }
    }

    /// Whether what shall never be there would be seen.
    private static func control(_ original: Original, on bench: Bench) throws -> (gone: Bool, readable: Bool) {
        let (work, storage) = try copy(of: original, "control", on: bench)
        defer { bench.remove(work) }
        let ending = Program.run(words(storage, bench), in: work)
        guard ending.status == 0 else { throw Failure(text: "seal ended with \(ending.status): \(ending.errors)") }
        let folder = "\(storage)/recordings/000001"
        bench.copy("\(original.storage)/recordings/000001/audio.wav", to: "\(folder)/audio.wav")
        let readable = !Self.readable(original, storage).isEmpty
        unlink("\(folder)/audio.wav")
        unlink("\(folder)/sealed.age")
        return (judged(original, storage, work, on: bench).isNeither, readable)
    }
}
