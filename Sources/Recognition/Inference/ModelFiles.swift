import Core
import Glibc

/// Checks that a model's file is there and may be read, without reading it.
///
/// - Parameters:
///   - what: begins the reason: `the recognizer's model`.
///   - missing: goes on with it where there is no such file.
/// - Throws: `DeviceError` with `missing` or `denied`, naming the file.
func checkModelFile(
    _ file: String, _ what: String, missing: String, remedy: String
) throws(DeviceError) {
    guard access(file, R_OK) != 0 else { return }
    let isMissing = errno == ENOENT || errno == ENOTDIR
    throw DeviceError(
        isMissing ? .missing : .denied, "access", status: errno, on: file,
        "\(what) \(isMissing ? missing : "cannot be read")", remedy: remedy)
}

extension OnnxRuntime {
    /// Checks that one of these is there, without loading it.
    ///
    /// - Parameters:
    ///   - path: the model's folder, for the reason.
    ///   - what: stands before the reason.
    /// - Throws: `DeviceError` with `missing`.
    static func check(_ candidates: [String], besides path: String, _ what: String = "") throws(DeviceError) {
        guard candidates.isEmpty else { return }
        throw DeviceError(
            .missing, "access", status: ENOENT, "\(what)libonnxruntime: not installed, and not beside \(path)",
            remedy: "install the package libonnxruntime1.21 or fieldscribe-onnxruntime")
    }
}
