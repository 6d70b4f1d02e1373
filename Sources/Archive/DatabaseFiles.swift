import Core
import Glibc
import System

/// The files of a database. SQLite opens them by name and would block on a pipe or follow a link, so their kinds are
/// checked first.
struct DatabaseFiles {
    /// The database is last: if setting aside stops early, its logs must not stay beside a new database.
    private static let suffixes = ["-journal", "-wal", "-shm", ""]

    private let path: String

    init(_ path: String) { self.path = path }

    /// - Throws: `DeviceError` with `damaged` if one of them exists and is not a regular file.
    func check() throws(DeviceError) {
        for suffix in Self.suffixes {
            guard let kind = FileStatus(path + suffix)?.kind, kind != .file else { continue }
            throw DeviceError(
                .damaged, "lstat",
                "\(path)\(suffix): is not a regular file; run fieldscribe recover, which sets it "
                    + "aside and rebuilds the database")
        }
    }

    /// Creates a missing database file with mode 0600; SQLite gives its logs the same mode. If this fails, SQLite reports
    /// it later.
    func create() {
        // SQLite's name for a database without a file.
        if path == ":memory:" { return }
        _ = try? FileDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    }

    /// Whether a file exists that this process may not open.
    var areDenied: Bool {
        Self.suffixes.contains { isTaken(path + $0) && access(path + $0, R_OK | W_OK) != 0 && errno == EACCES }
    }

    /// Renames all files to free names, and returns the database's new path.
    func setAside() throws(DeviceError) -> String {
        var turn = 1
        var aside: String { "\(path).damaged-\(turn)" }
        while Self.suffixes.contains(where: { isTaken(aside + $0) }) { turn += 1 }
        for suffix in Self.suffixes where isTaken(path + suffix) {
            try durableRename(path + suffix, to: aside + suffix)
        }
        return aside
    }
}
