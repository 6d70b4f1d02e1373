import Core
import Glibc
import System

/// The files of a database, which SQLite opens by their names, whatever they are: a pipe it would wait for, a link it would
/// follow. So it is looked before.
struct DatabaseFiles {
    /// The database, last: left beside a new one, its logs would be taken for that one's.
    private static let suffixes = ["-journal", "-wal", "-shm", ""]

    private let path: String

    init(_ path: String) { self.path = path }

    /// - Throws: `DeviceError` with `damaged` where one of them is there, and no file.
    func check() throws(DeviceError) {
        for suffix in Self.suffixes {
            guard let kind = FileStatus(path + suffix)?.kind, kind != .file else { continue }
            throw DeviceError(
                .damaged, "lstat",
                "\(path)\(suffix): is not a file, but something else of that name; run fieldscribe recover, which sets it "
                    + "aside and rebuilds the database")
        }
    }

    /// Creates a missing database file that only its owner can read; SQLite gives its logs the same permissions. If the file cannot be
    /// created, SQLite reports it later.
    func create() {
        // SQLite's name for no file at all.
        if path == ":memory:" { return }
        _ = try? FileDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    }

    /// Whether they are there, and may not be opened.
    var areDenied: Bool {
        Self.suffixes.contains { isTaken(path + $0) && access(path + $0, R_OK | W_OK) != 0 && errno == EACCES }
    }

    /// Gives all of them names that are free; returns the database's, and keeps what it is.
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
