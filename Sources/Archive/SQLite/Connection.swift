import Core
internal import CSQLite
import Glibc

/// An open database; owns it, and closes it when it ends.
///
/// The corresponding C type is `sqlite3`. It is opened without a mutex: one task uses it at a time.
package final class Connection {
    private let handle: OpaquePointer
    private let file: SharedFile?
    private let path: String
    /// The connection beside which this one reads; it has the lock, and is closed after this one.
    private let writer: Connection?
    private var prepared: [String: Statement] = [:]

    /// Opens or creates the file and takes its lock.
    convenience init(path: String) throws(DeviceError) {
        try Self.checkJournal(of: path)
        try self.init(path, sharing: SharedFile(), beside: nil)
        try configure(path)
    }

    /// Opens the database of another connection once more, to read beside it.
    convenience init(readingBeside writer: Connection) throws(DeviceError) {
        guard let file = writer.file else {
            throw DeviceError(.unsupported, "sqlite3_open_v2", "\(writer.path): is open for reading only")
        }
        try self.init(writer.path, sharing: file, beside: writer)
        sqlite3_busy_timeout(handle, 2_000)
        keepsLog(true)
        // It has to be told of, before nothing can be made any more.
        try execute("PRAGMA temp_store = MEMORY")
        try execute("CREATE VIRTUAL TABLE temp.index_words USING fts5vocab(main, segment_text, 'row')")
        try execute("PRAGMA query_only = ON")
    }

    /// Opens a database that nobody changes, and that may not be changed: without locks, and without its log.
    package convenience init(onlyReading path: String) throws(DeviceError) {
        try self.init(path, sharing: nil, beside: nil)
        try execute("PRAGMA query_only = ON")
    }

    /// Opens or creates a file that several processes use, each waiting for the others' transactions; with its locks and without a
    /// write-ahead log, which a folder on another machine could not hold.
    ///
    /// - Parameter patience: how long others are waited for, in milliseconds.
    package convenience init(sharing path: String, patience: Int32 = 20_000) throws(DeviceError) {
        try Self.checkJournal(of: path)
        try self.init(path, openedAs: Self.openShared(path))
        if sqlite3_db_readonly(handle, "main") == 1 {
            throw .sqlite("sqlite3_open_v2", status: SQLITE_READONLY, systemStatus: 0, path: path, detail: "")
        }
        sqlite3_busy_timeout(handle, patience)
        try execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
    }

    /// Refuses a rollback journal that names another file at its end: SQLite removes that file, whoever's it is, once it has rolled
    /// back. Transactions of ours are of one database, so that their journals name none.
    /// https://www.sqlite.org/tempfiles.html#super_journal_files
    private static func checkJournal(of path: String) throws(DeviceError) {
        let journal = "\(path)-journal"
        let descriptor = Glibc.open(journal, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        // The name, its length, its sum, and the same eight bytes with which a journal begins.
        let mark: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        var end = [UInt8](repeating: 0, count: mark.count)
        guard pread(descriptor, &end, end.count, status.st_size - off_t(end.count)) == end.count, end == mark,
            status.st_size > 512
        else { return }
        throw DeviceError(
            .damaged, "sqlite3_open_v2",
            "\(journal): names another file, which SQLite would remove; no program of Fieldscribe writes such a journal: "
                + "remove it, or run fieldscribe recover, which sets it aside and rebuilds the database")
    }

    private static func openShared(_ path: String) -> (status: Int32, handle: OpaquePointer?) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let status = sqlite3_open_v2(path, &opened, flags, nil)
        return (status, opened)
    }

    private convenience init(_ path: String, sharing file: SharedFile?, beside writer: Connection?) throws(DeviceError)
    {
        try self.init(path, openedAs: file?.open(path) ?? Self.openUnchanging(path), file, beside: writer)
    }

    private init(
        _ path: String, openedAs found: (status: Int32, handle: OpaquePointer?), _ file: SharedFile? = nil,
        beside writer: Connection? = nil
    ) throws(DeviceError) {
        self.file = file
        self.path = path
        self.writer = writer
        let (status, opened) = found
        guard status == SQLITE_OK, let opened else {
            // Safety: a failed open may still hand out a handle, which is ours to close; it explains the failure.
            let systemStatus = opened.map { Self.cause(sqlite3_system_errno($0), path) } ?? 0
            let detail = String(cString: sqlite3_errstr(status))
            sqlite3_close_v2(opened)
            throw .sqlite("sqlite3_open_v2", status: status, systemStatus: systemStatus, path: path, detail: detail)
        }
        handle = opened
    }

    private static func openUnchanging(_ path: String) -> (status: Int32, handle: OpaquePointer?) {
        var escaped = ""
        for byte in path.utf8 {
            let isPlain = byte > 0x20 && byte < 0x7F && !"%?#".utf8.contains(byte)
            let digits = String(byte, radix: 16)
            escaped += isPlain ? String(UnicodeScalar(byte)) : "%" + (digits.utf8.count < 2 ? "0" : "") + digits
        }
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        // Behind "file:" a path of the root stays as it is; any other is named from here.
        let status = sqlite3_open_v2("file:\(escaped)?immutable=1", &opened, flags, nil)
        return (status, opened)
    }

    /// Why a file could not be opened. SQLite tries to read what it may not create, and tells only that nothing is there.
    private static func cause(_ status: Int32, _ path: String) -> Int32 {
        guard status == ENOENT else { return status }
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { return errno }
        close(descriptor)
        return status
    }

    // Safety: with its statements freed it is closed when this returns, and the file that it shares is freed after that.
    deinit {
        prepared = [:]
        sqlite3_close_v2(handle)
    }

    /// One owner: `SharedFile` keeps others out, and has the log's index on the heap.
    private func configure(_ path: String) throws(DeviceError) {
        if sqlite3_db_readonly(handle, "main") == 1 {
            throw .sqlite("sqlite3_open_v2", status: SQLITE_READONLY, systemStatus: 0, path: path, detail: "")
        }
        sqlite3_busy_timeout(handle, 200)
        // Until it is known to be sound, closing it changes nothing.
        keepsLog(true)
        guard try rows("PRAGMA journal_mode = WAL", read: { $0.text(0) }) == ["wal"] else {
            throw DeviceError(
                .unsupported, "PRAGMA journal_mode",
                "\(path): this place cannot hold a write-ahead log; name a file on a disk")
        }
        try execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON")
        // The lock is taken with the first access.
        try execute("BEGIN IMMEDIATE; COMMIT")
        // Nobody else can have it, and what only reads is not waited for.
        sqlite3_busy_timeout(handle, 0)
    }

    /// Runs what only reads, as of one moment; ends early where `stop` is raised.
    ///
    /// - Throws: `ReadingStop.Raised` where it was.
    func reading<Value>(until stop: ReadingStop, _ body: () throws -> Value) throws -> Value {
        // Safety: the pointer is borrowed for this call, and taken back at its end.
        let context = Unmanaged.passUnretained(stop).toOpaque()
        sqlite3_progress_handler(
            handle, 2_000,
            { context in
                guard let context else { return 0 }
                return Unmanaged<ReadingStop>.fromOpaque(context).takeUnretainedValue().isRaised ? 1 : 0
            }, context)
        defer {
            sqlite3_progress_handler(handle, 0, nil, nil)
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
        }
        do {
            try stop.check()
            // The moment is that of the first look.
            try execute("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1")
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // What failed then failed because of it.
            try stop.check()
            throw error
        }
    }

    /// Says whether closing the database leaves its log as it is, instead of taking it into the file.
    func keepsLog(_ keep: Bool) { _ = fieldscribe_sqlite_keep_log(handle, keep ? 1 : 0) }

    /// Rows that were changed since it was opened.
    var changes: Int64 { sqlite3_total_changes64(handle) }

    /// Runs SQL whose rows nobody wants.
    package func execute(_ sql: String) throws(DeviceError) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw .sqlite("sqlite3_exec", on: handle) }
    }

    /// Runs one statement and returns how many rows it changed.
    ///
    /// It is prepared once and kept, so `sql` is never put together from data.
    @discardableResult
    package func run(_ sql: String, _ values: SQLValue...) throws(DeviceError) -> Int {
        try statement(sql).run(with: values) { _ in }
        return Int(sqlite3_changes64(handle))
    }

    /// Runs one statement and returns what `read` makes of each row.
    package func rows<Element>(
        _ sql: String, _ values: [SQLValue] = [], read: (Row) -> Element
    ) throws(DeviceError) -> [Element] {
        var elements: [Element] = []
        try statement(sql).run(with: values) { elements.append(read($0)) }
        return elements
    }

    /// Runs one statement, and gives each row to `read` until it answers with false.
    package func rows(_ sql: String, _ values: [SQLValue], while read: (Row) -> Bool) throws(DeviceError) {
        try statement(sql).run(with: values, while: read)
    }

    private func statement(_ sql: String) throws(DeviceError) -> Statement {
        if let statement = prepared[sql] { return statement }
        let statement = try Statement(sql, on: handle)
        prepared[sql] = statement
        return statement
    }

    /// Makes everything that `body` does durable, or, where it throws, none of it.
    package func transaction<Value>(_ body: () throws -> Value) throws -> Value {
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
