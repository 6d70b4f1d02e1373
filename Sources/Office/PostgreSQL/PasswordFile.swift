import Core
internal import CPostgreSQL
import Glibc
import System

/// The file in which libpq looks for a password. If others may read it, libpq ignores it and prints a warning on standard
/// error.
struct PasswordFile {
    /// The path of a missing file to pass to libpq instead; nil if libpq can use the file.
    private(set) var replacement: String?
    /// The problem, to append to an error message.
    private(set) var problem = ""

    /// - Throws: `DeviceError` if the address or `PGPASSFILE` names an unusable file.
    init(of address: String) throws(DeviceError) {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = fieldscribe_password_file(address, &path, path.count)
        let libpqFile = length > 0 ? path.withUnsafeBytes { String(decoding: $0.prefix(length), as: UTF8.self) } : nil
        let named = libpqFile ?? environmentVariable("PGPASSFILE")
        guard let path = named ?? environmentVariable("HOME").map({ "\($0)/.pgpass" }) else { return }
        guard let status = FileStatus(target: path) else { return }
        let isFile = status.kind == .file
        guard !isFile || status.permissions & 0o077 != 0 else { return }
        let reason = isFile ? "others may read it" : "is not a file"
        guard named == nil else {
            throw DeviceError(
                .denied, "stat", on: path, "\(reason), so that its password is not used",
                remedy: isFile ? "chmod 600 \(path)" : "name a file with passwords")
        }
        replacement = "/dev/null/none"
        problem = " (\(path) is not used: \(reason))"
    }
}
