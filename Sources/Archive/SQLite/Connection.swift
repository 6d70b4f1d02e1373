import Core
import System
internal import CSQLite
import Glibc

/// An open database connection (`sqlite3`), closed on deinit.
///
/// It is opened without a mutex, so only one task at a time may use it.
package final class Connection {
    private let handle: OpaquePointer
    private let file: SharedFile?
    private let path: String
    /// The connection that holds the lock. It must be closed after this one.
    private let writer: Connection?
    private var statements: [String: Statement] = [:]

    /// Opens or creates the file and locks other processes out. The log's index is on the heap; see `SharedFile`.
    convenience init(path: String) throws(DeviceError) {
        try Self.checkJournal(of: path)
        let file = try SharedFile()
        try self.init(path, openedAs: file.open(path), file)
        try checkWritable()
        sqlite3_busy_timeout(handle, 200)
        // Until the database has been checked, closing it must not change it.
        keepLog(true)
        guard try rows("PRAGMA journal_mode = WAL", read: { $0.text(0) }) == ["wal"] else {
            throw DeviceError(
                .unsupported, "PRAGMA journal_mode",
                "\(path): this file system does not support a write-ahead log; use a file on a local disk")
        }
        try execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON")
        // The first transaction takes the lock.
        try execute("BEGIN IMMEDIATE; COMMIT")
        // From now on, no other process can have the lock, and this process's readers do not block.
        sqlite3_busy_timeout(handle, 0)
    }

    /// Opens a second, read-only connection to another connection's database.
    convenience init(readingBeside writer: Connection) throws(DeviceError) {
        guard let file = writer.file else {
            throw DeviceError(.unsupported, "sqlite3_open_v2", "\(writer.path): is open only for reading")
        }
        try self.init(writer.path, openedAs: file.open(writer.path), file, beside: writer)
        sqlite3_busy_timeout(handle, 2_000)
        keepLog(true)
        // Set before the first temporary B-tree: SQLite ignores the pragma once one exists.
        try execute("PRAGMA temp_store = MEMORY")
        try execute("CREATE VIRTUAL TABLE temp.index_words USING fts5vocab(main, segment_text, 'row')")
        try execute("PRAGMA query_only = ON")
    }

    /// Opens a database that nobody changes, without locking it or reading its log.
    package convenience init(onlyReading path: String) throws(DeviceError) {
        try self.init(path, openedAs: Self.openImmutable(path))
        try execute("PRAGMA query_only = ON")
    }

    /// Opens or creates a file that several processes use. Each waits for the others' transactions. The file has no
    /// write-ahead log, because that does not work on network file systems.
    package convenience init(sharing path: String) throws(DeviceError) {
        try Self.checkJournal(of: path)
        try self.init(path, openedAs: Self.open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE))
        try checkWritable()
        sqlite3_busy_timeout(handle, 20_000)
        try execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
    }

    /// Refuses a rollback journal that names a super-journal, because SQLite would delete any file with that name. Our
    /// transactions change only one database, so our journals never name one.
    /// https://www.sqlite.org/tempfiles.html#super_journal_files
    private static func checkJournal(of path: String) throws(DeviceError) {
        let journal = "\(path)-journal"
        guard let file = try? FileDescriptor(opening: journal, O_RDONLY | O_NONBLOCK | O_NOFOLLOW),
            let status = try? file.status(), status.kind == .file, status.bytes > 512
        else { return }
        // Such a journal ends with the name, its length, its checksum, and these bytes.
        let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        guard (try? file.bytes(at: status.bytes - Int64(magic.count), count: magic.count)) == magic else { return }
        throw DeviceError(
            .damaged, "sqlite3_open_v2",
            "\(journal): names another file, which SQLite would delete; Fieldscribe never writes such a journal; "
                + "remove the journal, or run fieldscribe recover, which sets it aside and rebuilds the database")
    }

    /// Returns SQLite's status, and the handle if there is one.
    ///
    /// - Parameter vfs: The name of the VFS, which must stay valid while the handle exists; nil for SQLite's default.
    static func open(
        _ name: String, _ flags: Int32, vfs: UnsafePointer<CChar>? = nil
    ) -> (status: Int32, handle: OpaquePointer?) {
        var opened: OpaquePointer?
        let status = sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs)
        return (status, opened)
    }

    private init(
        _ path: String, openedAs result: (status: Int32, handle: OpaquePointer?), _ file: SharedFile? = nil,
        beside writer: Connection? = nil
    ) throws(DeviceError) {
        self.file = file
        self.path = path
        self.writer = writer
        let (status, opened) = result
        guard status == SQLITE_OK, let opened else {
            // Safety: a failed open may still return a handle, which explains the failure and must be closed.
            let systemStatus = opened.map { Self.openErrno(sqlite3_system_errno($0), path) } ?? 0
            let detail = String(cString: sqlite3_errstr(status))
            sqlite3_close_v2(opened)
            throw .sqlite("sqlite3_open_v2", status: status, systemStatus: systemStatus, path: path, detail: detail)
        }
        handle = opened
    }

    private static func openImmutable(_ path: String) -> (status: Int32, handle: OpaquePointer?) {
        var escaped = ""
        for byte in path.utf8 {
            let isPlain = byte > 0x20 && byte < 0x7F && !"%?#".utf8.contains(byte)
            escaped += isPlain ? String(UnicodeScalar(byte)) : "%" + byte.padded(to: 2, radix: 16)
        }
        // After "file:", SQLite accepts absolute and relative paths.
        return open("file:\(escaped)?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
    }

    /// Returns the errno of a failed open. If SQLite may not create a file, it also tries to open it for reading, and
    /// reports the ENOENT of that attempt.
    private static func openErrno(_ status: Int32, _ path: String) -> Int32 {
        guard status == ENOENT else { return status }
        let descriptor = Glibc.open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { return errno }
        close(descriptor)
        return status
    }

    // Safety: statements are finalized before the handle is closed, and the shared file is freed after it.
    deinit {
        statements = [:]
        sqlite3_close_v2(handle)
    }

    private func checkWritable() throws(DeviceError) {
        if sqlite3_db_readonly(handle, "main") == 1 {
            throw .sqlite("sqlite3_open_v2", status: SQLITE_READONLY, systemStatus: 0, path: path, detail: "")
        }
    }

    struct Interrupted: Error {}

    /// Runs `body` on a consistent snapshot; interrupts it if `stop` is raised.
    ///
    /// - Throws: `Interrupted` if `stop` was raised, or the error of `body`.
    func readSnapshot<Value>(until stop: StopFlag, _ body: () throws -> Value) throws -> Value {
        // Safety: the pointer is used only by the handler, which is removed before this method returns.
        let context = Unmanaged.passUnretained(stop).toOpaque()
        sqlite3_progress_handler(
            handle, 2_000,
            { context in
                guard let context else { return 0 }
                return Unmanaged<StopFlag>.fromOpaque(context).takeUnretainedValue().isRaised ? 1 : 0
            }, context)
        defer {
            sqlite3_progress_handler(handle, 0, nil, nil)
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
        }
        do {
            if stop.isRaised { throw Interrupted() }
            // The first read fixes the snapshot.
            try execute("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1")
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // If `stop` was raised, it caused the failure.
            throw stop.isRaised ? Interrupted() : error
        }
    }

    /// Sets whether closing the database leaves the log in place instead of applying it.
    func keepLog(_ keep: Bool) { _ = fieldscribe_sqlite_keep_log(handle, keep ? 1 : 0) }

    var changes: Int64 { sqlite3_total_changes64(handle) }

    /// Runs SQL statements, ignoring their rows.
    package func execute(_ sql: String) throws(DeviceError) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw .sqlite("sqlite3_exec", on: handle) }
    }

    /// Runs one statement and returns the number of changed rows.
    ///
    /// The prepared statement is cached, so `sql` must not contain data.
    @discardableResult
    package func run(_ sql: String, _ values: SQLValue...) throws(DeviceError) -> Int {
        // Runs to the end, even if one row would be enough, because only the last step commits.
        try statement(sql).run(with: values) { _ in true }
        return Int(sqlite3_changes64(handle))
    }

    /// Runs one statement and maps its rows with `read`.
    package func rows<Element>(
        _ sql: String, _ values: [SQLValue] = [], read: (Row) -> Element
    ) throws(DeviceError) -> [Element] {
        var elements: [Element] = []
        try statement(sql).run(with: values) { row in
            elements.append(read(row))
            return true
        }
        return elements
    }

    /// Runs one statement and returns the first integer in its first row; 0 if there are no rows.
    package func number(_ sql: String, _ values: SQLValue...) throws(DeviceError) -> Int {
        try rows(sql, values) { $0.integer(0) }.first ?? 0
    }

    /// Runs one statement and passes rows to `read` until it returns false.
    package func rows(_ sql: String, _ values: [SQLValue], while read: (Row) -> Bool) throws(DeviceError) {
        try statement(sql).run(with: values, while: read)
    }

    private func statement(_ sql: String) throws(DeviceError) -> Statement {
        if let statement = statements[sql] { return statement }
        let statement = try Statement(sql, on: handle)
        statements[sql] = statement
        return statement
    }

    /// Runs `body` in a transaction; rolls it back if `body` throws.
    package func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try execute("BEGIN IMMEDIATE")
        do {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // If the disk is full, SQLite has already rolled back. An error from the rollback is ignored.
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }
}
