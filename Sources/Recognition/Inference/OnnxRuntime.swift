internal import COnnxRuntime
import Core
import Glibc
import Synchronization

/// ONNX Runtime, loaded with dlopen when needed, so that a machine without the library lacks only the engines that use
/// it.
///
/// The library is configured to start no threads, so that a process that has loaded a model can still fork.
final class OnnxRuntime {
    let api: UnsafePointer<fieldscribe_ort_api>
    let environment: OpaquePointer
    /// The library's version, such as `1.23.2`.
    let version: String

    /// The number of `OnnxRuntime` objects that use each environment, by the environment's address. A library has one
    /// environment per process.
    ///
    /// The lock is held while an environment is created or released, because the library does not support both at the
    /// same time.
    private static let users = Mutex<[UInt: Int]>([:])

    /// Opens the first candidate that can be loaded.
    ///
    /// - Parameter candidates: paths from `candidates(beside:)`.
    /// - Throws: `DeviceError` with `missing` if there is no candidate, `unsupported` if none can be loaded or the API
    ///   differs, `failed` if the library fails to start.
    init(_ candidates: [String]) throws(DeviceError) {
        // The library's CPU detection prints messages while the library loads.
        let (library, path) = try RuntimeLog.whileRedirected { () throws(DeviceError) in try Self.open(candidates) }
        guard let entry = dlsym(library, "OrtGetApiBase") else {
            throw DeviceError(
                .unsupported, "dlsym", on: path, "not an ONNX Runtime library",
                remedy: "reinstall the library or the model's package")
        }
        var name: UnsafePointer<CChar>?
        guard let api = fieldscribe_ort_open(entry, &name) else {
            throw DeviceError(
                .unsupported, "OrtGetApiBase", on: path,
                "this ONNX Runtime does not support API version \(fieldscribe_ort_version)",
                remedy: "install version 1.6 or later")
        }
        var newEnvironment: OpaquePointer?
        var failure: OpaquePointer?
        RuntimeLog.whileRedirected {
            Self.users.withLock { users in
                failure = api.pointee.CreateEnvWithCustomLogger?(
                    RuntimeLog.callback, nil, RuntimeLog.minLevel, "fieldscribe", &newEnvironment)
                guard failure == nil, let newEnvironment else { return }
                let count = users[UInt(bitPattern: newEnvironment)] ?? 0
                users[UInt(bitPattern: newEnvironment)] = count + 1
                // Add the arena only once: the library would replace it while another thread creates a session with it.
                if count == 0 { Self.addArena(to: newEnvironment, by: api) }
            }
        }
        guard failure == nil, let newEnvironment else {
            throw DeviceError(
                .failed, "CreateEnv", on: path, "ONNX Runtime failed to start (\(Self.message(of: failure, by: api)))",
                remedy: "install another version")
        }
        (self.api, environment) = (api, newEnvironment)
        version = name.map { String(cString: $0) } ?? ""
        if let failure = api.pointee.DisableTelemetryEvents?(newEnvironment) { api.pointee.ReleaseStatus?(failure) }
    }

    deinit {
        Self.users.withLock { users in
            let count = users[UInt(bitPattern: environment)] ?? 1
            users[UInt(bitPattern: environment)] = count > 1 ? count - 1 : nil
            api.pointee.ReleaseEnv?(environment)
        }
    }

    /// Adds an arena that all sessions share, so that the decoder reuses the encoder's memory. With one arena per
    /// session, each session needs 15 MB more; without arenas, there are ten times as many page faults.
    private static func addArena(to environment: OpaquePointer, by api: UnsafePointer<fieldscribe_ort_api>) {
        var memory: OpaquePointer?
        defer { api.pointee.ReleaseMemoryInfo?(memory) }
        var failure = api.pointee.CreateCpuMemoryInfo?(
            Int32(fieldscribe_ort_arena), Int32(fieldscribe_ort_default_memory), &memory)
        if failure == nil { failure = api.pointee.CreateAndRegisterAllocator?(environment, memory, nil) }
        // Without an arena, the sessions use malloc.
        if let failure { api.pointee.ReleaseStatus?(failure) }
    }

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

    /// Calls the library.
    ///
    /// - Throws: `DeviceError` with the given code and subject, and the library's message.
    func check(
        _ operation: String, on subject: String, code: DeviceError.Code = .failed,
        _ body: (fieldscribe_ort_api) -> OpaquePointer?
    ) throws(DeviceError) {
        guard let failure = body(api.pointee) else { return }
        throw DeviceError(
            code, operation, on: subject, "ONNX Runtime reports an error (\(Self.message(of: failure, by: api)))",
            remedy: code == .damaged ? "reinstall the model" : nil)
    }

    /// Returns the status's message, and releases the status.
    private static func message(of status: OpaquePointer?, by api: UnsafePointer<fieldscribe_ort_api>) -> String {
        guard let status else { return "no reason given" }
        defer { api.pointee.ReleaseStatus?(status) }
        let text = api.pointee.GetErrorMessage?(status).map { String(cString: $0) } ?? ""
        return text.split(whereSeparator: \.isNewline).first.map { String($0.prefix(200)) } ?? "no reason given"
    }
}
