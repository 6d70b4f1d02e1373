import Core
import Glibc

/// Checks that a model's file exists and may be read, without reading it.
///
/// - Parameters:
///   - what: the subject of the error message: `the recognizer's model`.
///   - missing: the rest of the message if the file does not exist.
/// - Throws: `DeviceError` with `missing` or `denied` for the file.
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
    /// Checks that one of the candidates exists, without loading it.
    ///
    /// - Parameters:
    ///   - path: the model's folder, for the error message.
    ///   - what: a prefix of the error message.
    /// - Throws: `DeviceError` with `missing`.
    static func check(_ candidates: [String], besides path: String, _ what: String = "") throws(DeviceError) {
        guard candidates.isEmpty else { return }
        throw DeviceError(
            .missing, "access", status: ENOENT, "\(what)libonnxruntime: not installed, and not beside \(path)",
            remedy: "install the package libonnxruntime1.21 or fieldscribe-onnxruntime")
    }
}
