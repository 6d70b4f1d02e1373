import Core
import Glibc
import System

/// The environment of all experiments: the programs, a temporary folder with the known sound, and the options.
struct Bench: Sendable {
    /// The executable to test.
    let fieldscribe: String
    /// The library to preload into the executable.
    let library: String
    /// The path of this program, which also stands in for decode workers.
    let chaos: String
    let folder: String
    let options: Options

    /// False if the executable is too old to have the command `recover`.
    let supportsRecover: Bool
    /// False if the executable is too old to have the command `verify`.
    let supportsVerify: Bool

    init(_ options: Options) throws {
        self.options = options
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        chaos = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let products = chaos.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
        fieldscribe = options["executable"] ?? "\(products)/fieldscribe"
        library = "\(products)/libFaultShim.so"
        for path in [fieldscribe, library] where access(path, R_OK) != 0 {
            throw DeviceError(.missing, "access", "\(path) does not exist; run swift build first")
        }
        var template = Array("\(Self.temporaryFolder)/fieldscribe-chaos-XXXXXX".utf8CString)
        guard let path = template.withUnsafeMutableBufferPointer({ $0.baseAddress.flatMap { mkdtemp($0) } }) else {
            throw DeviceError.system("mkdtemp", on: Self.temporaryFolder)
        }
        folder = String(cString: path)
        supportsRecover = Program.run([fieldscribe, "recover", "--help"], in: folder).status == 0
        supportsVerify = Program.run([fieldscribe, "verify", "--help"], in: folder).status == 0
        try KnownSound.write(to: folder)
        // One worker is enough, because the stand-in answers immediately. The test disk is small, so the reserve is the
        // minimum.
        let settings = "[recognizer]\nworkers = 1\n\n[storage]\nreserve-megabytes = 16\n"
        try durableReplace(path: "\(folder)/usual.conf", with: settings)
        // More frequent syncs give more opportunities to fail.
        try durableReplace(path: "\(folder)/often.conf", with: "[capture]\nsync-seconds = 0.2\n\n" + settings)
    }

    /// Removes all temporary files, unless the option `--keep` is given.
    func close() {
        if !options.has("keep") { remove(folder) }
    }

    /// Creates an empty folder, and returns its path. Replaces an existing folder.
    func newFolder(_ name: String) -> String {
        let path = "\(folder)/\(name)"
        remove(path)
        mkdir(path, 0o700)
        return path
    }

    func remove(_ path: String) { _ = Program.run(["rm", "-rf", path], in: folder) }

    func copy(_ source: String, to target: String) { _ = Program.run(["cp", "-a", source, target], in: folder) }

    /// Returns the environment variables that preload the library and inject faults into calls on files in `storage`.
    func environment(storage: String, faults: [String: String] = [:]) -> [String: String] {
        var variables = [
            "LD_PRELOAD": library, "ALSA_CONFIG_PATH": "\(folder)/asound.conf", "FAULT_CLOCK": "1",
            "FAULT_UNDER": storage, "FAULT_WORKER": chaos,
        ]
        variables.merge(faults) { $1 }
        return variables
    }

    /// Returns the command line that records the known sound.
    func recordCommand(to storage: String, seconds: Int? = nil, configuration: String = "usual") -> [String] {
        [
            fieldscribe, "record", "--json", "--microphone", "alsa:\(KnownSound.device)", "--directory", storage,
            "--config", "\(folder)/\(configuration).conf",
        ] + (seconds.map { ["--seconds", "\($0)"] } ?? [])
    }

    /// Runs jobs in parallel, at most `width` at a time; returns their results in order.
    func parallel<Job: Sendable, Result: Sendable>(
        _ jobs: [Job], width: Int, _ body: @escaping @Sendable (Int, Job) throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: (Int, Result).self) { group in
            var results: [Int: Result] = [:]
            for (index, job) in jobs.enumerated() {
                if index >= width, let (finished, result) = try await group.next() { results[finished] = result }
                group.addTask { (index, try await onThread(named: "experiment") { try body(index, job) }) }
            }
            for try await (finished, result) in group { results[finished] = result }
            return results.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private static var temporaryFolder: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }
}
