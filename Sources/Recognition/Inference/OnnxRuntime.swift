internal import COnnxRuntime
import Core
import Glibc
import System

/// ONNX Runtime, opened when it is wanted: nothing is linked, and a machine without it lacks nothing else.
///
/// It starts no thread of its own, so that a process which has loaded a network can still be copied by `fork`.
final class OnnxRuntime {
    /// The table of the library's functions.
    let api: UnsafePointer<fieldscribe_ort_api>
    let environment: OpaquePointer
    /// As the library tells it: `1.23.2`.
    let version: String
    /// The file that was opened.
    let path: String
    // Safety: what the library logs it hands to this object, which it therefore must not outlive; `deinit` sees to that.
    private let log = RuntimeLog()

    /// Opens the first of these files that is there.
    ///
    /// - Parameter candidates: paths, as `candidates(besides:)` finds them.
    /// - Throws: `DeviceError` with `missing` where none is there, `unsupported` where it is of another kind.
    init(_ candidates: [String]) throws(DeviceError) {
        // What looks at the processor prints as soon as the library is there.
        let (library, path) = try log.whileRedirected {
            Result { () throws(DeviceError) in try Self.open(candidates) }
        }.get()
        guard let entry = dlsym(library, "OrtGetApiBase") else {
            throw DeviceError(
                .unsupported, "dlsym", on: path, "not an ONNX Runtime",
                remedy: "reinstall it, or the package of the model")
        }
        var name: UnsafePointer<CChar>?
        guard let api = fieldscribe_ort_open(entry, &name) else {
            throw DeviceError(
                .unsupported, "OrtGetApiBase", on: path,
                "this ONNX Runtime does not know interface \(fieldscribe_ort_version)",
                remedy: "install version 1.6 or later")
        }
        var made: OpaquePointer?
        let failure = log.whileRedirected { [log] in
            api.pointee.CreateEnvWithCustomLogger?(
                RuntimeLog.take, Unmanaged.passUnretained(log).toOpaque(), RuntimeLog.leastLevel, "fieldscribe", &made)
        }
        guard failure == nil, let made else {
            throw DeviceError(
                .failed, "CreateEnv", on: path, "ONNX Runtime does not start (\(Self.message(of: failure, by: api)))",
                remedy: "install another version")
        }
        (self.api, environment, self.path) = (api, made, path)
        version = name.map { String(cString: $0) } ?? ""
        if let failure = api.pointee.DisableTelemetryEvents?(made) { api.pointee.ReleaseStatus?(failure) }
    }

    deinit { api.pointee.ReleaseEnv?(environment) }

    private static func open(_ candidates: [String]) throws(DeviceError) -> (UnsafeMutableRawPointer, String) {
        var reason = ""
        for path in candidates {
            if let library = dlopen(path, RTLD_NOW | RTLD_LOCAL) { return (library, path) }
            reason = dlerror().map { " (\(String(cString: $0)))" } ?? ""
        }
        throw DeviceError(
            candidates.isEmpty ? .missing : .unsupported, "dlopen",
            "ONNX Runtime \(candidates.isEmpty ? "is not installed" : "cannot be opened")\(reason)",
            remedy: "install the package libonnxruntime1.21 or fieldscribe-onnxruntime")
    }

    /// Runs a call of the library, with what it prints kept from standard error.
    ///
    /// - Throws: `DeviceError` with this code, the subject, and what the library says.
    func check(
        _ operation: String, on subject: String, code: DeviceError.Code = .failed,
        _ body: (fieldscribe_ort_api) -> OpaquePointer?
    ) throws(DeviceError) {
        guard let failure = body(api.pointee) else { return }
        throw DeviceError(
            code, operation, on: "\(subject)", "ONNX Runtime refuses it (\(Self.message(of: failure, by: api)))",
            remedy: code == .damaged ? "reinstall the model" : nil)
    }

    /// Does something during which the library prints to standard error, past its own log.
    func quietly<Value>(_ body: () throws(DeviceError) -> Value) throws(DeviceError) -> Value {
        var outcome: Result<Value, DeviceError>?
        log.whileRedirected {
            do throws(DeviceError) { outcome = .success(try body()) } catch { outcome = .failure(error) }
        }
        guard let outcome else {
            throw DeviceError(.failed, "quietly", "ONNX Runtime gave no answer", remedy: "try again")
        }
        return try outcome.get()
    }

    /// The status's message; the status is released.
    private static func message(of status: OpaquePointer?, by api: UnsafePointer<fieldscribe_ort_api>) -> String {
        guard let status else { return "no reason given" }
        defer { api.pointee.ReleaseStatus?(status) }
        let text = api.pointee.GetErrorMessage?(status).map { String(cString: $0) } ?? ""
        return text.split(whereSeparator: \.isNewline).first.map { String($0.prefix(200)) } ?? "no reason given"
    }
}
