import Glibc
import System

/// An archive with one recording. Experiments start commands on copies of the archive, and kill the commands.
struct RecordedArchive: Sendable {
    struct Failure: Error { var text: String }

    /// A copy of the archive, in a working folder of its own.
    struct Copy {
        var work: String
        var storage: String
    }

    let bench: Bench
    /// The storage folder of the original archive.
    let storage: String
    let samples: [Int16]
    /// Words that occur only in the recording's transcript.
    let words: [String]
    private let configuration: String

    /// Records five seconds.
    ///
    /// - Parameter seal: the value of the setting `storage.seal`; nil to leave it unset.
    init(on bench: Bench, seal: String? = nil) throws {
        self.bench = bench
        storage = bench.newFolder("original")
        configuration = "\(bench.folder)/cut.conf"
        try durableReplace(
            path: configuration,
            with: "[recognizer]\nworkers = 1\nsecond-pass = no\n\n[storage]\nreserve-megabytes = 16\n"
                + (seal.map { "seal = \($0)\n" } ?? ""))
        let result = Program.run(
            bench.recordCommand(to: storage, seconds: 5), in: bench.folder,
            environment: bench.environment(storage: storage))
        samples = Self.samples(storage)
        words = Self.words(storage).sorted()
        guard result.status == 0, !words.isEmpty, samples.count > 16_000 else {
            throw Failure(text: "recording failed: \(result.status): \(result.errors)")
        }
    }

    /// Returns the samples of the recording in an archive; empty if there is no recording.
    static func samples(_ storage: String) -> [Int16] {
        WaveContent(path: "\(storage)/recordings/000001/audio.wav")?.samples ?? []
    }

    /// Returns the stand-in worker's words in the recording's journal. They occur in no other text.
    static func words(_ storage: String) -> Set<String> {
        let journal = text(of: "\(storage)/recordings/000001/journal.jsonl")
        return Set(
            journal.split { !$0.isLetter && !$0.isNumber }.filter { $0.hasPrefix("word") && $0.count > 5 }.map(
                String.init))
    }

    /// Copies the archive to a new folder.
    func copy(_ name: String) -> Copy {
        let work = bench.newFolder(name)
        bench.copy(storage, to: "\(work)/storage")
        return Copy(work: work, storage: "\(work)/storage")
    }

    /// Runs a fieldscribe command on a copy.
    func run(_ arguments: [String], on copy: Copy, environment: [String: String] = [:]) -> Program.ExitResult {
        Program.run(command(arguments, copy), in: copy.work, environment: environment)
    }

    /// Returns the problem if a command failed or reported a changed history; nil if neither is the case.
    static func problem(_ arguments: [String], _ result: Program.ExitResult) -> String? {
        let report = "\(arguments[0]) exited with status \(result.status): \(result.errors)\(result.output)"
        return result.status != 0 || report.contains("history.jsonl") ? report : nil
    }

    private func command(_ arguments: [String], _ copy: Copy) -> [String] {
        [bench.fieldscribe] + arguments + ["--directory", copy.storage, "--config", configuration]
    }

    private func faults(_ copy: Copy) -> [String: String] {
        bench.environment(
            storage: copy.storage,
            faults: ["FAULT_STATE": "\(copy.work)/state", "FAULT_JOURNAL": "\(copy.work)/journal"])
    }

    /// Returns the maximum duration of a command in seconds, if `width` commands run in parallel.
    func maximumSeconds(_ arguments: [String], width: Int) async throws -> Double {
        try await maximumSeconds(arguments, width: width, from: [nil])[0]
    }

    /// Returns the maximum durations of a command in seconds. Each is measured from the time at which a file appears in
    /// the recording's folder, or from the start if the file is nil.
    func maximumSeconds(_ arguments: [String], width: Int, from files: [String?]) async throws -> [Double] {
        let times = try await bench.parallel(Array(0..<width * 3), width: width) { index, _ in
            let copy = copy("timing-\(index)")
            defer { bench.remove(copy.work) }
            var began = files.map { _ in MonotonicClock.nanoseconds }
            let program = try Program(command(arguments, copy), in: copy.work, environment: faults(copy))
            for (index, file) in files.enumerated() where file != nil {
                wait(for: file, in: copy)
                began[index] = MonotonicClock.nanoseconds
            }
            let result = program.wait()
            guard result.status == 0 else {
                throw Failure(text: "\(arguments[0]) exited with status \(result.status): \(result.errors)")
            }
            return began.map { Double(MonotonicClock.nanoseconds - $0) / 1e9 }
        }
        return files.indices.map { index in times.map { $0[index] }.max() ?? 1 }
    }

    /// Waits at most ten seconds for a file in the recording's folder.
    private func wait(for file: String?, in copy: Copy) {
        guard let file else { return }
        let deadline = MonotonicClock.nanoseconds + 10_000_000_000
        let path = "\(copy.storage)/recordings/000001/\(file)"
        // wait: a late check may miss the file; then the cut comes at another time, which must also be safe
        while access(path, F_OK) != 0, MonotonicClock.nanoseconds < deadline { usleep(100) }
    }

    /// Starts a command on a copy, kills it, and simulates a power cut.
    ///
    /// - Parameters:
    ///   - seconds: the delay from the start of the command, or from the time at which `file` appears.
    ///   - file: a file in the recording's folder; nil to measure from the start.
    func cut(_ arguments: [String], on copy: Copy, after seconds: Double, from file: String?) throws {
        let program = try Program(command(arguments, copy), in: copy.work, environment: faults(copy))
        wait(for: file, in: copy)
        usleep(UInt32(seconds * 1e6))  // wait: cuts at an arbitrary moment
        program.signal(SIGKILL)
        _ = program.wait()
        _ = try PowerCut(journal: "\(copy.work)/journal", storage: copy.storage).apply()
    }

    /// Returns the files in a copy that contain one of the words, or the recording's sixteen samples from `first` on.
    func paths(in copy: Copy, containing words: [String], orSamplesFrom first: Int) -> [String] {
        let sampleBytes = samples[first..<first + 16].flatMap {
            [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
        }
        let needles = words.map { Array($0.utf8) } + [sampleBytes]
        return files(below: copy.storage).filter { path in
            let content = bytes(of: path)
            return needles.contains { Self.contains(content, $0) }
        }.map { String($0.dropFirst(copy.storage.utf8.count)) }
    }

    private static func contains(_ content: [UInt8], _ needle: [UInt8]) -> Bool {
        guard let first = needle.first, content.count >= needle.count else { return false }
        return content.indices.dropLast(needle.count - 1).contains { start in
            content[start] == first && content[start..<start + needle.count].elementsEqual(needle)
        }
    }
}
