import Core
import Glibc
import System

/// Shared by all experiments: the programs, a folder for damage, the known sound, and the options.
struct Bench: Sendable {
    /// The executable under test.
    let fieldscribe: String
    /// The library to preload into it.
    let library: String
    /// This program, which also replaces decode workers.
    let chaos: String
    let folder: String
    let options: Options

    /// Whether the executable has these commands yet.
    let recovers: Bool
    let verifies: Bool

    init(_ options: Options) throws {
        self.options = options
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        chaos = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let products = chaos.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
        fieldscribe = options["executable"] ?? "\(products)/fieldscribe"
        library = "\(products)/libFaultShim.so"
        for path in [fieldscribe, library] where access(path, R_OK) != 0 {
            throw DeviceError(.missing, "access", "\(path): not built; run swift build first")
        }
        var template = Array("\(Self.temporary)/fieldscribe-chaos-XXXXXX".utf8CString)
        guard let made = template.withUnsafeMutableBufferPointer({ $0.baseAddress.flatMap { mkdtemp($0) } }) else {
            throw DeviceError.system("mkdtemp", on: Self.temporary)
        }
        folder = String(cString: made)
        recovers = Program.run([fieldscribe, "recover", "--help"], in: folder).status == 0
        verifies = Program.run([fieldscribe, "verify", "--help"], in: folder).status == 0
        try KnownSound.write(to: folder)
        // One worker, because the replacement takes no time; the smallest reserve, because the filled disk is small.
        let settings = "[recognizer]\nworkers = 1\n\n[storage]\nreserve-megabytes = 16\n"
        try durableReplace(path: "\(folder)/usual.conf", with: settings)
        // More syncs in less time: each is a chance to fail.
        try durableReplace(path: "\(folder)/often.conf", with: "[capture]\nsync-seconds = 0.2\n\n" + settings)
    }

    /// Removes all damaged files, unless `--keep` was given.
    func close() {
        if !options.has("keep") { remove(folder) }
    }

    /// A new, empty folder.
    func newFolder(_ name: String) -> String {
        let path = "\(folder)/\(name)"
        remove(path)
        mkdir(path, 0o700)
        return path
    }

    func remove(_ path: String) { _ = Program.run(["rm", "-rf", path], in: folder) }

    func copy(_ from: String, to path: String) { _ = Program.run(["cp", "-a", from, path], in: folder) }

    /// The environment of a run with the preloaded library: the faults, on files under `storage`.
    func environment(storage: String, faults: [String: String] = [:]) -> [String: String] {
        var all = [
            "LD_PRELOAD": library, "ALSA_CONFIG_PATH": "\(folder)/asound.conf", "FAULT_CLOCK": "1",
            "FAULT_UNDER": storage, "FAULT_WORKER": chaos,
        ]
        all.merge(faults) { $1 }
        return all
    }

    /// The words of a recording of the known sound.
    func record(to storage: String, seconds: Int? = nil, configuration: String = "usual") -> [String] {
        [
            fieldscribe, "record", "--json", "--microphone", "alsa:\(KnownSound.device)", "--directory", storage,
            "--config", "\(folder)/\(configuration).conf",
        ] + (seconds.map { ["--seconds", "\($0)"] } ?? [])
    }

    /// Runs experiments in parallel; returns their results in order.
    func parallel<Job: Sendable, Result: Sendable>(
        _ jobs: [Job], width: Int, _ body: @escaping @Sendable (Int, Job) throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: (Int, Result).self) { group in
            var results: [Int: Result] = [:]
            for (index, job) in jobs.enumerated() {
                if index >= width, let (done, result) = try await group.next() { results[done] = result }
                group.addTask { (index, try await onThread(named: "experiment") { try body(index, job) }) }
            }
            for try await (done, result) in group { results[done] = result }
            return results.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private static var temporary: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }
}
