import Core
import Glibc
import System

/// Checks that a model's file exists and can be read, without reading it.
///
/// - Parameters:
///   - what: the subject of the error message, such as `the recognizer's model`.
///   - missing: the rest of the message if the file does not exist.
/// - Throws: `DeviceError` with `missing` or `denied` for the file.
func checkModelFile(_ file: String, _ what: String, missing: String, remedy: String) throws(DeviceError) {
    guard access(file, R_OK) != 0 else { return }
    let isMissing = errno == ENOENT || errno == ENOTDIR
    throw DeviceError(
        isMissing ? .missing : .denied, "access", status: errno, on: file,
        "\(what) \(isMissing ? missing : "cannot be read")", remedy: remedy)
}

/// The digests of a model's files, stored in `SHA256SUMS` in the format of `sha256sum`. A folder that a user has
/// assembled may lack this file.
enum ModelDigests {
    static let fileName = "SHA256SUMS"

    /// Compares the digest of every listed file. Does nothing if there is no list.
    ///
    /// - Parameter folder: the model's folder, without a trailing slash.
    /// - Throws: `DeviceError` with `damaged` for the first file that differs, or for an invalid list; `missing` for a
    ///   listed file that does not exist.
    static func verify(inFolder folder: String) throws(DeviceError) {
        let path = "\(folder)/\(fileName)"
        guard access(path, F_OK) == 0 else { return }
        let text = String(decoding: try content(ofFile: path, limit: 1 << 16), as: UTF8.self)
        for line in text.split(whereSeparator: \.isNewline) {
            let fields = line.split(separator: " ", maxSplits: 1).map(String.init)
            let name = fields.last.map { $0.drop { $0 == " " || $0 == "*" } } ?? ""
            guard fields.count == 2, fields[0].utf8.count == 64, !name.isEmpty, !name.contains("/") else {
                throw DeviceError(.damaged, "read", on: path, "not a list of digests", remedy: "reinstall the model")
            }
            var digest = Digest()
            try MappedFile("\(folder)/\(name)").withBytes { digest.add($0) }
            guard digest.finish() == fields[0] else {
                throw DeviceError(
                    .damaged, "sha256", on: "\(folder)/\(name)", "damaged: its SHA-256 differs from the one in \(path)",
                    remedy: "reinstall the model")
            }
        }
    }
}
