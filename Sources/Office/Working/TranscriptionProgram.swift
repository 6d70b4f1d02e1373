import Core
import Glibc
import System

/// The `fieldscribe` program, and the engine with which it transcribes recordings.
struct TranscriptionProgram {
    let path: String
    let engine: OfficeEngine

    private static let maximumOutputBytes = 512 << 20

    /// An entry of `fieldscribe models --json`.
    private struct Model: Decodable {
        var name: String
        var engine: String
        var sha256: String
        var isChosen: Bool
        var problems: [String]
    }

    /// Finds the program and selects an engine.
    ///
    /// - Parameters:
    ///   - requestedPath: the program's path; nil to search for it.
    ///   - requestedEngine: the engine's name; nil for the best engine.
    /// - Throws: `DeviceError` with `missing` if there is no such program, or if no model is installed.
    init(_ requestedPath: String?, engine requestedEngine: String?) throws(DeviceError) {
        path = try Self.find(requestedPath)
        if let requestedEngine {
            engine = OfficeEngine(name: requestedEngine, model: nil, label: requestedEngine)
            return
        }
        let (output, status) = try Self.run(path, ["models", "--json"]) { () throws(DeviceError) in true }
        let models = (try? decodedJSON([Model].self, from: output)) ?? []
        guard status == 0, let model = models.first(where: \.isChosen), model.problems.isEmpty else {
            throw DeviceError(
                .missing, "models", on: path, "has no model",
                remedy: "see \(path) models and doctor, or choose an engine with --engine")
        }
        engine = OfficeEngine(
            name: model.engine, model: model.name, label: "\(model.engine) \(model.name) \(model.sha256.prefix(12))")
    }

    /// Returns the program's path. Without a requested path, searches beside this program, then in `PATH`.
    static func find(_ requestedPath: String?) throws(DeviceError) -> String {
        let name = "fieldscribe"
        var paths: [String] = []
        if let requestedPath {
            paths = [requestedPath]
        } else {
            if let ownPath = try? realPath("/proc/self/exe") {
                paths.append("\(ownPath.split(separator: "/").dropLast().map { "/\($0)" }.joined())/\(name)")
            }
            paths += (environmentVariable("PATH") ?? "").split(separator: ":").map { "\($0)/\(name)" }
        }
        let program = paths.first { access($0, X_OK) == 0 && FileStatus(target: $0)?.kind == .file }
        if let program { return program }
        throw DeviceError(
            .missing, "access", on: requestedPath ?? name, "is not installed",
            remedy: "install the package fieldscribe, or specify the program with --program FILE")
    }

    /// Runs the program and returns its output and exit status.
    ///
    /// - Parameter shouldContinue: called at least once a second; if it returns false, the program is killed.
    static func run(
        _ path: String, _ arguments: [String], shouldContinue: () throws(DeviceError) -> Bool
    ) throws(DeviceError) -> (output: [UInt8], status: Int32) {
        let child = try ChildProcess(path, arguments: arguments)
        child.pipes.closeInput()
        var bytes: [UInt8] = []
        while true {
            // The `deinit` of `child` kills the program.
            guard try shouldContinue() else { return (bytes, 128 + SIGKILL) }
            let output: [UInt8]
            do throws(DeviceError) { output = try child.pipes.read(timeoutSeconds: 1) } catch {
                guard error.status == ETIMEDOUT else { throw error }
                continue
            }
            if output.isEmpty { break }
            guard bytes.count + output.count <= maximumOutputBytes else {
                throw DeviceError(.failed, "read", on: path, "wrote more than any transcript can contain")
            }
            bytes += output
        }
        return (bytes, try child.exitStatus(timeoutSeconds: 60))
    }
}
