import Glibc
import System

/// An archive with one recording. Commands run on copies of it, and are killed.
struct RecordedArchive: Sendable {
    struct Failure: Error { var text: String }

    /// A copy of the archive, in a folder with its settings.
    struct Copy {
        var work: String
        var storage: String
    }

    let bench: Bench
    /// The original.
    let storage: String
    let samples: [Int16]
    /// Words that occur only in its text.
    let words: [String]
    private let configuration: String

    /// Records five seconds.
    ///
    /// - Parameter seal: the value of `storage.seal`; nil for none.
    init(on bench: Bench, seal: String? = nil) throws {
        self.bench = bench
        storage = bench.newFolder("original")
        configuration = "\(bench.folder)/cut.conf"
        try durableReplace(
            path: configuration,
            with: "[recognizer]\nworkers = 1\nsecond-pass = no\n\n[storage]\nreserve-megabytes = 16\n"
                + (seal.map { "seal = \($0)\n" } ?? ""))
        let ending = Program.run(
            bench.record(to: storage, seconds: 5), in: bench.folder, environment: bench.environment(storage: storage))
        samples = Self.samples(storage)
        words = Self.words(storage).sorted()
        guard ending.status == 0, !words.isEmpty, samples.count > 16_000 else {
            throw Failure(text: "nothing was recorded: \(ending.status): \(ending.errors)")
        }
    }

    /// The samples of the recording in an archive; empty without a recording.
    static func samples(_ storage: String) -> [Int16] {
        WaveContent(path: "\(storage)/recordings/000001/audio.wav")?.samples ?? []
    }

    /// The words in the recording's journal that no other text can have.
    static func words(_ storage: String) -> Set<String> {
        let journal = text(of: "\(storage)/recordings/000001/journal.jsonl")
        return Set(
            journal.split { !$0.isLetter && !$0.isNumber }.filter { $0.hasPrefix("word") && $0.count > 5 }.map(
                String.init))
    }

    func copy(_ name: String) -> Copy {
        let work = bench.newFolder(name)
        bench.copy(storage, to: "\(work)/storage")
        return Copy(work: work, storage: "\(work)/storage")
    }

    /// Runs a fieldscribe command on a copy.
    func run(_ words: [String], on copy: Copy, environment: [String: String] = [:]) -> Program.Ending {
        Program.run(command(words, copy), in: copy.work, environment: environment)
    }

    /// The problem with a command's end; nil without one. It must never report a changed history.
    static func complaint(_ words: [String], _ ending: Program.Ending) -> String? {
        let reported = "\(words[0]) ended with \(ending.status): \(ending.errors)\(ending.output)"
        return ending.status != 0 || reported.contains("history.jsonl") ? reported : nil
    }

    private func command(_ words: [String], _ copy: Copy) -> [String] {
        [bench.fieldscribe] + words + ["--directory", copy.storage, "--config", configuration]
    }

    private func faults(_ copy: Copy) -> [String: String] {
        bench.environment(
            storage: copy.storage,
            faults: ["FAULT_STATE": "\(copy.work)/state", "FAULT_JOURNAL": "\(copy.work)/journal"])
    }

    /// The maximum duration of a command in seconds, with others in parallel.
    func longest(_ words: [String], width: Int) async throws -> Double {
        try await longest(words, width: width, from: [nil])[0]
    }

    /// The same, from the moment each of these files exists in the recording's folder; nil: from the start.
    func longest(_ words: [String], width: Int, from files: [String?]) async throws -> [Double] {
        let times = try await bench.parallel(Array(0..<width * 3), width: width) { index, _ in
            let copy = copy("timing-\(index)")
            defer { bench.remove(copy.work) }
            var began = files.map { _ in MonotonicClock.nanoseconds }
            let program = try Program(command(words, copy), in: copy.work, environment: faults(copy))
            for (place, file) in files.enumerated() where file != nil {
                wait(for: file, in: copy)
                began[place] = MonotonicClock.nanoseconds
            }
            let ending = program.wait()
            guard ending.status == 0 else {
                throw Failure(text: "\(words[0]) ended with \(ending.status): \(ending.errors)")
            }
            return began.map { Double(MonotonicClock.nanoseconds - $0) / 1e9 }
        }
        return files.indices.map { place in times.map { $0[place] }.max() ?? 1 }
    }

    /// Waits at most ten seconds for a file in the recording's folder.
    private func wait(for file: String?, in copy: Copy) {
        guard let file else { return }
        let end = MonotonicClock.nanoseconds + 10_000_000_000
        let path = "\(copy.storage)/recordings/000001/\(file)"
        // wait: a late check misses the file; then the cut comes at another moment, which must also be safe
        while access(path, F_OK) != 0, MonotonicClock.nanoseconds < end { usleep(100) }
    }

    /// Starts a command on a copy, kills it, and undoes what a power cut would lose.
    ///
    /// - Parameters:
    ///   - seconds: after its start, or after the file exists.
    ///   - file: a file in the recording's folder.
    func cut(_ words: [String], on copy: Copy, after seconds: Double, from file: String?) throws {
        let program = try Program(command(words, copy), in: copy.work, environment: faults(copy))
        wait(for: file, in: copy)
        usleep(UInt32(seconds * 1e6))  // wait: cuts at an arbitrary moment
        program.signal(SIGKILL)
        _ = program.wait()
        _ = try PowerCut(journal: "\(copy.work)/journal", storage: copy.storage).apply()
    }

    /// Files of a copy that contain one of the words, or sixteen consecutive samples.
    func paths(in copy: Copy, holding words: [String], orSamplesFrom first: Int) -> [String] {
        let sound = samples[first..<first + 16].flatMap {
            [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
        }
        let needles = words.map { Array($0.utf8) } + [sound]
        return files(below: copy.storage).filter { path in
            let held = bytes(of: path)
            return needles.contains { Self.holds(held, $0) }
        }.map { String($0.dropFirst(copy.storage.utf8.count)) }
    }

    private static func holds(_ held: [UInt8], _ needle: [UInt8]) -> Bool {
        guard let first = needle.first, held.count >= needle.count else { return false }
        return held.indices.dropLast(needle.count - 1).contains { start in
            held[start] == first && held[start..<start + needle.count].elementsEqual(needle)
        }
    }
}
