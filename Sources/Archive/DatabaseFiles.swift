import Core
import Glibc
import System

/// A database's files. SQLite opens them by name and would block on a pipe or follow a link, so `check` looks at their
/// types first.
struct DatabaseFiles {
    /// The database comes last: if `setAside` is interrupted, old logs must not be left beside a new database.
    private static let suffixes = ["-journal", "-wal", "-shm", ""]

    private let path: String

    init(_ path: String) { self.path = path }

    /// - Throws: `DeviceError` with `damaged` if one of the files exists and is not a regular file.
    func check() throws(DeviceError) {
        for suffix in Self.suffixes {
            guard let kind = FileStatus(path + suffix)?.kind, kind != .file else { continue }
            throw DeviceError(
                .damaged, "lstat",
                "\(path)\(suffix): is not a regular file; run fieldscribe recover, which sets it "
                    + "aside and rebuilds the database")
        }
    }

    /// Creates a missing database file with mode 0600; SQLite gives its logs the same mode. Ignores errors, because
    /// SQLite reports them when it opens the file.
    func create() {
        // SQLite's name for a database without a file.
        if path == ":memory:" { return }
        _ = try? FileDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    }

    /// Whether one of the files exists and this process may not read and write it.
    var areDenied: Bool {
        Self.suffixes.contains { pathExists(path + $0) && access(path + $0, R_OK | W_OK) != 0 && errno == EACCES }
    }

    /// Replaces an error with `damaged` if the header is damaged. SQLite reports a wrong version in the header as
    /// "read-only" or "unsupported".
    func explain(_ error: DeviceError) -> DeviceError {
        guard error.code == .denied || error.code == .failed, hasDamagedHeader else { return error }
        return DeviceError(
            .damaged, error.operation, status: error.status,
            "\(path): the header of the database is damaged; run fieldscribe recover, which rebuilds it")
    }

    private var hasDamagedHeader: Bool {
        guard let bytes = try? beginning(ofFile: path, count: 100), bytes.count == 100 else { return false }
        // The write version is 1 or 2, the schema format at most 4, big-endian. https://www.sqlite.org/fileformat.html
        return bytes[18] > 2 || bytes[44..<47].contains { $0 > 0 } || bytes[47] > 4
    }

    /// Renames all files to unused names. Returns the database's new path.
    func setAside() throws(DeviceError) -> String {
        var attempt = 1
        var newPath: String { "\(path).damaged-\(attempt)" }
        while Self.suffixes.contains(where: { pathExists(newPath + $0) }) { attempt += 1 }
        for suffix in Self.suffixes where pathExists(path + suffix) {
            try durableRename(path + suffix, to: newPath + suffix)
        }
        return newPath
    }
}
