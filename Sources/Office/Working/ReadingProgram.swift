import Core
import Glibc
import System

/// The `fieldscribe` program and the engine that transcribe.
struct ReadingProgram {
    let path: String
    let engine: ReadingEngine

    private static let maxBytes = 512 << 20

    /// An entry of `fieldscribe models --json`.
    private struct Model: Decodable {
        var name: String
        var engine: String
        var sha256: String
        var isChosen: Bool
        var problems: [String]
    }

    /// - Parameters:
    ///   - named: the program's path; nil to search for it.
    ///   - asked: the engine; nil for the best.
    /// - Throws: `DeviceError` with `missing` if there is no such program, or no model.
    init(_ named: String?, engine asked: String?) throws(DeviceError) {
        path = try Self.find(named)
        if let asked {
            engine = ReadingEngine(name: asked, model: nil, label: asked)
            return
        }
        let (answer, status) = try Self.ask(path, ["models", "--json"]) { () throws(DeviceError) in true }
        let models = (try? decodedJSON([Model].self, from: answer)) ?? []
        guard status == 0, let model = models.first(where: \.isChosen), model.problems.isEmpty else {
            throw DeviceError(
                .missing, "models", on: path, "has no model",
                remedy: "see \(path) models, and doctor, or name an engine with --engine")
        }
        engine = ReadingEngine(
            name: model.engine, model: model.name, label: "\(model.engine) \(model.name) \(model.sha256.prefix(12))")
    }

    /// Returns the path of the program: the one beside ours, or in `PATH`, if none is named.
    static func find(_ named: String?) throws(DeviceError) -> String {
        let name = "fieldscribe"
        var paths: [String] = []
        if let named {
            paths = [named]
        } else {
            if let own = try? realPath("/proc/self/exe") {
                paths.append("\(own.split(separator: "/").dropLast().map { "/\($0)" }.joined())/\(name)")
            }
            paths += (environmentVariable("PATH") ?? "").split(separator: ":").map { "\($0)/\(name)" }
        }
        let found = paths.first { access($0, X_OK) == 0 && FileStatus(target: $0)?.kind == .file }
        if let found { return found }
        throw DeviceError(
            .missing, "access", on: named ?? name, "is not installed",
            remedy: "install the package fieldscribe, or name its program with --program FILE")
    }

    /// Runs the program; returns its output and its exit status.
    ///
    /// - Parameter shouldContinue: called each second; if it returns false, the program is killed.
    static func ask(
        _ path: String, _ arguments: [String], shouldContinue: () throws(DeviceError) -> Bool
    ) throws(DeviceError) -> (output: [UInt8], status: Int32) {
        let child = try ChildProcess(path, arguments: arguments)
        child.pipes.closeInput()
        var bytes: [UInt8] = []
        while true {
            // `ChildProcess` kills the program in its `deinit`.
            guard try shouldContinue() else { return (bytes, 128 + SIGKILL) }
            let more: [UInt8]
            do throws(DeviceError) { more = try child.pipes.read(timeoutSeconds: 1) } catch {
                guard error.status == ETIMEDOUT else { throw error }
                continue
            }
            if more.isEmpty { break }
            guard bytes.count + more.count <= maxBytes else {
                throw DeviceError(.failed, "read", on: path, "wrote more than a transcript can have")
            }
            bytes += more
        }
        return (bytes, try child.exitStatus(timeoutSeconds: 60))
    }
}
