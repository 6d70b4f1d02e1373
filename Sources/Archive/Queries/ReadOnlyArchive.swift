import Core
import Glibc
import System

/// An archive that can be read but not written, because its card is mounted read-only or it belongs to another user.
///
/// If a power cut left a write-ahead log, a copy of the database and the log is read, because SQLite cannot read a log
/// without writing.
package actor ReadOnlyArchive: ArchiveReading {
    private let connection: Connection

    /// Opens an archive.
    ///
    /// - Throws: `DeviceError` with `busy` if another process writes it, `denied` if it cannot be read, `unsupported`
    ///   if another version or program wrote it, `damaged` if it is not a file or its schema is damaged.
    package init(path: String) throws {
        try DatabaseFiles(path).check()
        try Self.checkNotLocked(path)
        if let log = FileStatus(target: "\(path)-wal"), log.bytes > 0 {
            connection = try Self.openCopy(of: path)
        } else {
            connection = try Connection(onlyReading: path)
        }
        try Migrations.checkVersion(of: connection, path: path)
    }

    package func recordings() throws -> [RecordingSummary] { try queries.recordings() }

    package func transcript(of recording: Int) throws -> (RecordingSummary, Timeline)? {
        try queries.transcript(of: recording)
    }

    package func transcript(of recording: Int, pass: Int) throws -> (RecordingSummary, Timeline)? {
        try queries.transcript(of: recording, pass: pass)
    }

    package func passes(of recording: Int) throws -> [PassSummary] { try queries.passes(of: recording) }

    package func shownPass(of recording: Int) throws -> PassSummary? { try queries.shownPass(of: recording) }

    package func search(_ words: String, limit: Int) throws -> [SearchHit] {
        try queries.search(words, limit: limit)
    }

    package func history(of recording: Int?) throws -> [HistoryLine] { try queries.history(of: recording) }

    private var queries: ArchiveQueries { ArchiveQueries(connection: connection) }

    /// Checks SQLite's lock bytes, and throws if another process has the archive open for writing.
    private static func checkNotLocked(_ path: String) throws(DeviceError) {
        let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
        var lock = flock()
        lock.l_type = Int16(F_RDLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 0x4000_0000
        lock.l_len = 512
        if fcntl(file.number, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) {
            throw DeviceError(
                .busy, "fcntl",
                "\(path): the appliance or another fieldscribe is using this archive, and you can only read it; join "
                    + "the appliance's group (control.group), or wait until it is done")
        }
    }

    /// Opens a copy of the database with its log applied. The copy's file is unlinked before this function returns.
    private static func openCopy(of path: String) throws -> Connection {
        let folder = try ScratchFolder(for: "archive", in: ScratchFolder.parentForLargeFiles)
        let copy = "\(folder.path)/archive.sqlite"
        for suffix in ["", "-wal"] { try copyFile("\(path)\(suffix)", to: copy + suffix) }
        try applyLog(into: copy)
        return try Connection(onlyReading: copy)
    }

    // A separate function, so that the writing connection is closed when it returns.
    private static func applyLog(into path: String) throws {
        let connection = try Connection(path: path)
        try Migrations.apply(to: connection, path: path)
        connection.keepLog(false)
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private static func copyFile(_ path: String, to copy: String) throws(DeviceError) {
        let source = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
        let target = try FileDescriptor(opening: copy, O_WRONLY | O_CREAT | O_EXCL)
        var offset: Int64 = 0
        try source.forEachBlock { bytes throws(DeviceError) in
            try target.write(bytes, at: offset)
            offset += Int64(bytes.count)
        }
    }
}
