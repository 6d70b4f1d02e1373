import FoundationEssentials
import Glibc
import Platform

/// Power cuts at random moments of striking a stretch of a recording: after the next start it is whole, or struck, and where it is
/// struck nothing of what was said can be read in any file. The history is never called changed for it.
struct StrikeExperiment {
    private struct Cut: Sendable {
        var isWhole = false
        var isStruck = false
        /// Files in which struck text or sound can be read although it is struck.
        var readable: [String] = []
        var complaint: String?
    }

    /// What was recorded, and what of it is left once it is struck.
    private struct Original: Sendable {
        var storage: String
        var samples: [Int16]
        var struckSamples: [Int16]
        /// Words that only the stretch has, and those that stay.
        var words: [String]
        var rest: [String]
    }

    /// The stretch, in seconds.
    private static let range = (from: 0, to: 1)

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("strike")
        let count = bench.options.number("cuts", 300)
        let seed = UInt64(bench.options.number("seed", Int.random(in: 1...1_000_000)))
        report.note("seed", "\(seed)")
        let original = try record()
        let width = bench.options.number("parallel", 2)
        let times = try await bench.parallel(Array(0..<width * 3), width: width) { [bench] index, _ in
            let (work, storage) = try Self.copy(of: original, "timing-\(index)", on: bench)
            defer { bench.remove(work) }
            let began = MonotonicClock.nanoseconds
            let ending = Program.run(
                Self.words(storage, bench), in: work, environment: Self.faults(work, storage, bench))
            guard ending.status == 0 else {
                throw Failure(text: "strike ended with \(ending.status): \(ending.errors)")
            }
            return Double(MonotonicClock.nanoseconds - began) / 1e9
        }
        let longest = times.max() ?? 1
        report.note("striking takes at most", "\(rounded(longest)) s")
        let cuts = try await bench.parallel(Array(0..<count), width: width) { [bench] index, _ in
            var generator = Random(seed: seed &+ UInt64(index))
            return try Self.cut(original, index, after: generator.seconds(in: 0.001...longest), on: bench)
        }
        report.add(none: "neither whole nor struck", cuts.count { !$0.isWhole && !$0.isStruck }, of: cuts.count)
        report.add(none: "readable behind struck", cuts.count { !$0.readable.isEmpty }, of: cuts.count)
        report.add(
            none: "archives not whole, or a history called changed", cuts.count { $0.complaint != nil }, of: cuts.count)
        for complaint in Set(cuts.compactMap(\.complaint)).prefix(5) { report.note("complaint", complaint) }
        for file in Set(cuts.flatMap(\.readable)).prefix(5) { report.note("readable", file) }
        report.note("whole; struck", "\(cuts.count(where: \.isWhole)); \(cuts.count(where: \.isStruck))")
        let control = try Self.control(original, on: bench)
        report.add(control: "a word left behind struck", caught: control.word ? 1 : 0, of: 1)
        report.add(control: "sound left behind struck", caught: control.sound ? 1 : 0, of: 1)
        report.add(control: "an entry of the history that is gone", caught: control.history ? 1 : 0, of: 1)
        return report.rows
    }

    private struct Failure: Error { var text: String }

    private func record() throws -> Original {
        let storage = bench.newFolder("original")
        try durableReplace(
            path: "\(bench.folder)/strike.conf",
            with: "[recognizer]\nworkers = 1\nsecond-pass = no\n\n[storage]\nreserve-megabytes = 16\n")
        let ending = Program.run(
            bench.record(to: storage, seconds: 5), in: bench.folder, environment: bench.environment(storage: storage))
        guard ending.status == 0 else { throw Failure(text: "nothing was recorded: \(ending.errors)") }
        var original = Original(storage: storage, samples: [], struckSamples: [], words: [], rest: [])
        original.samples = Self.samples(storage)
        let (work, struck) = try Self.copy(of: original, "struck", on: bench)
        defer { bench.remove(work) }
        let words = Self.spoken(storage)
        guard Program.run(Self.words(struck, bench), in: work).status == 0 else {
            throw Failure(text: "nothing was struck")
        }
        original.rest = Self.spoken(struck).sorted()
        original.words = words.subtracting(original.rest).sorted()
        original.struckSamples = Self.samples(struck)
        guard !original.words.isEmpty, !original.rest.isEmpty, original.samples.count == original.struckSamples.count,
            Self.readable(original, struck).isEmpty, original.samples != original.struckSamples
        else {
            throw Failure(
                text: "struck: \(original.words), left: \(original.rest), in \(Self.readable(original, struck))")
        }
        return original
    }

    private static func samples(_ storage: String) -> [Int16] {
        WaveContent(path: "\(storage)/recordings/000001/audio.wav")?.samples ?? []
    }

    /// The words in the journal that no other text can have.
    private static func spoken(_ storage: String) -> Set<String> {
        let journal = text(of: "\(storage)/recordings/000001/journal.jsonl")
        return Set(
            journal.split { !$0.isLetter && !$0.isNumber }.filter { $0.hasPrefix("word") && $0.count > 5 }.map(
                String.init))
    }

    private static func words(_ storage: String, _ bench: Bench) -> [String] {
        [
            bench.fieldscribe, "strike", "1", "\(range.from)", "\(range.to)", "--yes", "--directory", storage,
            "--config",
            "\(bench.folder)/strike.conf",
        ]
    }

    private static func faults(_ work: String, _ storage: String, _ bench: Bench) -> [String: String] {
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
        let (work, storage) = try copy(of: original, "strike-\(index)", on: bench)
        defer { bench.remove(work) }
        let program = try Program(words(storage, bench), in: work, environment: faults(work, storage, bench))
        // Every other cut comes at any moment, the others from when striking has begun.
        let note = "\(storage)/recordings/000001/.striking"
        let end = MonotonicClock.nanoseconds + 10_000_000_000
        while index % 2 == 1, access(note, F_OK) != 0, MonotonicClock.nanoseconds < end { usleep(100) }
        usleep(UInt32((index % 2 == 1 ? seconds / 4 : seconds) * 1e6))
        program.signal(SIGKILL)
        _ = program.wait(seconds: 10)
        _ = try PowerCut(journal: "\(work)/journal", storage: storage).apply()
        return judged(original, storage, work, on: bench)
    }

    /// Starts anew, and looks at what lies there.
    private static func judged(_ original: Original, _ storage: String, _ work: String, on bench: Bench) -> Cut {
        var cut = Cut()
        let usual = ["--directory", storage, "--config", "\(bench.folder)/strike.conf"]
        func run(_ words: [String]) -> String {
            let ending = Program.run([bench.fieldscribe] + words + usual, in: work)
            let told = "\(words[0]) ended with \(ending.status): \(ending.errors)\(ending.output)"
            if ending.status != 0 || told.contains("history.jsonl") { cut.complaint = cut.complaint ?? told }
            return ending.output
        }
        _ = run(["recover", "--no-transcribe"])
        _ = run(["verify"])
        let isTold = run(["show", "1", "--format", "json"]).contains("\"struck\"")
        let (samples, words) = (samples(storage), spoken(storage))
        cut.isWhole = !isTold && samples == original.samples && words.isSuperset(of: original.words + original.rest)
        cut.isStruck = isTold && samples == original.struckSamples && words == Set(original.rest)
        if isTold { cut.readable = readable(original, storage) }
        return cut
    }

    /// Files that hold a struck word or stretch of sound.
    private static func readable(_ original: Original, _ storage: String) -> [String] {
        let middle = (range.from + range.to) * 8_000
        let sound = original.samples[middle..<middle + 16].flatMap {
            [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
        }
        let needles = original.words.map { Array($0.utf8) } + [sound]
        return files(below: storage).filter { path in
            let held = bytes(of: path)
            return needles.contains { SealExperiment.holds(held, $0) }
        }.map { String($0.dropFirst(storage.utf8.count)) }
    }

    /// Whether what shall never be there would be seen.
    private static func control(
        _ original: Original, on bench: Bench
    ) throws -> (word: Bool, sound: Bool, history: Bool) {
        let (work, storage) = try copy(of: original, "control", on: bench)
        defer { bench.remove(work) }
        guard Program.run(words(storage, bench), in: work).status == 0 else {
            throw Failure(text: "nothing was struck")
        }
        try durableReplace(path: "\(storage)/left", with: "… \(original.words[0]) …")
        let word = readable(original, storage) == ["/left"]
        unlink("\(storage)/left")
        let audio = "\(storage)/recordings/000001/audio.wav"
        bench.copy("\(original.storage)/recordings/000001/audio.wav", to: audio)
        let sound = readable(original, storage) == ["/recordings/000001/audio.wav"]
        let lines = text(of: "\(storage)/history.jsonl").split(separator: "\n")
        try durableReplace(path: "\(storage)/history.jsonl", with: lines.dropFirst().joined(separator: "\n") + "\n")
        return (word, sound, judged(original, storage, work, on: bench).complaint?.contains("history.jsonl") == true)
    }
}
