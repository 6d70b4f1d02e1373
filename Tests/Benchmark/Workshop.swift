import Core
import Glibc
import Platform

/// Where a measurement finds its program and puts its files.
struct Workshop {
    let folder: String
    let fieldscribe: String

    /// - Parameter program: the executable to measure; nil for the one that was built with this one.
    init(program: String? = nil) throws {
        folder = (getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp") + "/fieldscribe-benchmark"
        try makeFolder(folder)
        fieldscribe = try program ?? Self.executable()
    }

    /// Transcribes files into a folder of JSON; returns the transcripts by file name, and what they cost.
    func transcribe(
        _ paths: [String], profile: String, jobs: Int = 1, into name: String, samplingMemory: Bool = false,
        options: [String] = []
    ) throws -> (transcripts: [String: TranscriptFile], cost: MeasuredProcess) {
        let output = "\(folder)/\(name)"
        let cost = try MeasuredProcess(
            [
                fieldscribe, "transcribe", "--jobs", "\(jobs)", "--pass", profile, "--alternatives", "0", "--format",
                "json", "--output", output,
            ] + options + paths, samplingMemory: samplingMemory)
        guard cost.status == 0 else {
            throw DeviceError(.failed, "benchmark", "transcribe --pass \(profile) failed; run it by hand")
        }
        var transcripts: [String: TranscriptFile] = [:]
        for path in paths {
            let file = String(path.split(separator: "/").last?.prefix { $0 != "." } ?? "")
            transcripts[file] = try TranscriptFile(path: "\(output)/\(file).json")
        }
        return (transcripts, cost)
    }

    /// The stock program on one file.
    func peer(_ path: String, into name: String = "peer.txt") throws -> (text: String, cost: MeasuredProcess) {
        let output = "\(folder)/\(name)"
        let cost = try MeasuredProcess(["pocketsphinx_continuous", "-infile", path], output: output)
        guard cost.status == 0 else {
            throw DeviceError(.missing, "benchmark", "pocketsphinx_continuous failed; install pocketsphinx")
        }
        return (try lines(output).joined(separator: " "), cost)
    }

    /// Writes a report's file beside the others, or into the folder that is given.
    func write(_ text: String, to name: String, in place: String? = nil) throws {
        let path = "\(place ?? folder)/\(name)"
        try durableReplace(path: path, with: text, mode: 0o644)
        print("wrote \(path)")
    }

    /// The release executable beside this one.
    private static func executable() throws -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        let own = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let path = own.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/fieldscribe"
        guard access(path, X_OK) == 0 else {
            throw DeviceError(.missing, "access", "\(path): not built; run swift build -c release first")
        }
        return path
    }
}
