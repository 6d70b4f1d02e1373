internal import CSQLite
import Core
import Glibc

/// An open database; owns it, and closes it when it ends.
///
/// The corresponding C type is `sqlite3`. It is opened without a mutex: one task uses it at a time.
final class Connection {
    private let handle: OpaquePointer
    private var prepared: [String: Statement] = [:]

    /// Opens or creates the file and takes its lock.
    init(path: String) throws(DeviceError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let status = sqlite3_open_v2(path, &opened, flags, nil)
        guard status == SQLITE_OK, let opened else {
            // Safety: a failed open may still hand out a handle, which is ours to close; it explains the failure.
            let systemStatus = opened.map { Self.cause(sqlite3_system_errno($0), path) } ?? 0
            let detail = String(cString: sqlite3_errstr(status))
            sqlite3_close_v2(opened)
            throw .sqlite("sqlite3_open_v2", status: status, systemStatus: systemStatus, path: path, detail: detail)
        }
        handle = opened
        try configure(path)
    }

    /// Why a file could not be opened. SQLite tries to read what it may not create, and tells only that nothing is there.
    private static func cause(_ status: Int32, _ path: String) -> Int32 {
        guard status == ENOENT else { return status }
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { return errno }
        close(descriptor)
        return status
    }

    // Safety: the statements may be freed after this; close_v2 waits for them.
    deinit { sqlite3_close_v2(handle) }

    /// One owner, one connection: with the exclusive lock, WAL needs no shared memory, whose mapping dies of SIGBUS on
    /// a full disk.
    private func configure(_ path: String) throws(DeviceError) {
        if sqlite3_db_readonly(handle, "main") == 1 {
            throw .sqlite("sqlite3_open_v2", status: SQLITE_READONLY, systemStatus: 0, path: path, detail: "")
        }
        sqlite3_busy_timeout(handle, 200)
        // Until it is known to be sound, closing it changes nothing.
        keepsLog(true)
        try execute("PRAGMA locking_mode = EXCLUSIVE")
        guard try rows("PRAGMA journal_mode = WAL", read: { $0.text(0) }) == ["wal"] else {
            throw DeviceError(
                .unsupported, "PRAGMA journal_mode",
                "\(path): this place cannot hold a write-ahead log; name a file on a disk")
        }
        try execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON")
        // WAL in exclusive mode takes its lock with the first access.
        try execute("BEGIN IMMEDIATE; COMMIT")
    }

    /// Says whether closing the database leaves its log as it is, instead of taking it into the file.
    func keepsLog(_ keep: Bool) { _ = fieldscribe_sqlite_keep_log(handle, keep ? 1 : 0) }

    /// Runs SQL whose rows nobody wants.
    func execute(_ sql: String) throws(DeviceError) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw .sqlite("sqlite3_exec", on: handle) }
    }

    /// Runs one statement and returns how many rows it changed.
    ///
    /// It is prepared once and kept, so `sql` is never put together from data.
    @discardableResult
    func run(_ sql: String, _ values: SQLValue...) throws(DeviceError) -> Int {
        try statement(sql).run(with: values) { _ in }
        return Int(sqlite3_changes64(handle))
    }

    /// Runs one statement and returns what `read` makes of each row.
    func rows<Element>(
        _ sql: String, _ values: [SQLValue] = [], read: (Row) -> Element
    ) throws(DeviceError) -> [Element] {
        var elements: [Element] = []
        try statement(sql).run(with: values) { elements.append(read($0)) }
        return elements
    }

    private func statement(_ sql: String) throws(DeviceError) -> Statement {
        if let statement = prepared[sql] { return statement }
        let statement = try Statement(sql, on: handle)
        prepared[sql] = statement
        return statement
    }

    /// Makes everything that `body` does durable, or, where it throws, none of it.
    func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try execute("BEGIN IMMEDIATE")
        do {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // A full disk has rolled back by itself; what failed is worth more than that there is nothing to undo.
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }
}
