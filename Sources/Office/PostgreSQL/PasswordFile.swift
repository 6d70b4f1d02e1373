import Core
internal import CPostgreSQL
import Glibc
import System

/// The file in which libpq looks for a password. If other users may read the file, libpq ignores it and prints a
/// warning to standard error.
struct PasswordFile {
    /// The path of a file that does not exist, which libpq should use instead; nil if libpq can use the file.
    private(set) var replacement: String?
    /// A description of the problem, to append to an error message.
    private(set) var problem = ""

    /// Checks the file that libpq uses for an address.
    ///
    /// - Throws: `DeviceError` if the address or `PGPASSFILE` specifies a file that cannot be used.
    init(of address: String) throws(DeviceError) {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = fieldscribe_password_file(address, &path, path.count)
        let libpqFile = length > 0 ? path.withUnsafeBytes { String(decoding: $0.prefix(length), as: UTF8.self) } : nil
        let specified = libpqFile ?? environmentVariable("PGPASSFILE")
        guard let path = specified ?? environmentVariable("HOME").map({ "\($0)/.pgpass" }) else { return }
        guard let status = FileStatus(target: path) else { return }
        let isFile = status.kind == .file
        guard !isFile || status.permissions & 0o077 != 0 else { return }
        let reason = isFile ? "other users may read it" : "it is not a file"
        guard specified == nil else {
            throw DeviceError(
                .denied, "stat", on: path, "\(reason), so its password is not used",
                remedy: isFile ? "run chmod 600 \(path)" : "specify a file with passwords")
        }
        replacement = "/dev/null/none"
        problem = " (\(path) is not used: \(reason))"
    }
}
