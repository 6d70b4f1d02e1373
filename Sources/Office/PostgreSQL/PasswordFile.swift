import Core
internal import CPostgreSQL
import Glibc
import System

/// The file in which libpq looks for a password. If other users may read the file, libpq ignores it, and prints a warning
/// that our messages should replace.
struct PasswordFile {
    /// The path of a missing file that libpq must use instead, so that it prints no warning; nil if libpq can use the file.
    private(set) var replacement: String?
    /// A description of the problem, to append to an error message; empty if there is none.
    private(set) var problem = ""

    /// Checks the file that libpq uses for an address.
    ///
    /// - Throws: `DeviceError` if the address or `PGPASSFILE` specifies an existing file that libpq would ignore.
    init(for address: String) throws(DeviceError) {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = fieldscribe_password_file(address, &buffer, buffer.count)
        let addressPath = buffer.withUnsafeBytes { String(decoding: $0.prefix(max(0, length)), as: UTF8.self) }
        let specifiedPath = length > 0 ? addressPath : environmentVariable("PGPASSFILE")
        guard let path = specifiedPath ?? environmentVariable("HOME").map({ "\($0)/.pgpass" }) else { return }
        guard let status = FileStatus(target: path) else { return }
        let isFile = status.kind == .file
        guard !isFile || status.permissions & 0o077 != 0 else { return }
        let reason = isFile ? "other users may read it" : "it is not a file"
        guard specifiedPath == nil else {
            throw DeviceError(
                .denied, "stat", on: path, "\(reason), so its password is not used",
                remedy: isFile ? "run chmod 600 \(path)" : "specify a regular file")
        }
        replacement = "/dev/null/none"
        problem = " (\(path) is not used: \(reason))"
    }
}
