import FoundationEssentials
import Glibc
import Testing

@testable import Archive
@testable import Core

@Suite("Opening the archive")
struct OpeningTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func refusal(of path: String) async throws -> DeviceError {
        try #require(await failure { _ = try SQLiteArchive(path: path) })
    }

    @Test("while the archive is open, opening it again fails; afterwards it succeeds")
    func busy() async throws {
        do {
            let archive = try SQLiteArchive(path: folder.archive)
            let error = try await refusal(of: folder.archive)
            #expect(error.code == .busy)
            #expect(error.message.contains(folder.archive))
            try await archive.record("still mine")
        }
        let archive = try SQLiteArchive(path: folder.archive)
        #expect(try await archive.search("mine", limit: 1).count == 1)
    }

    @Test(
        "a file that is not a database is reported as damaged and is not changed",
        arguments: ["xy", "This is a letter.\n", String(repeating: "no page ", count: 4_096)])
    func notADatabase(content: String) async throws {
        try Data(content.utf8).write(to: URL(filePath: folder.archive))
        let error = try await refusal(of: folder.archive)
        #expect(error.code == .damaged)
        #expect(error.exitStatus == 4)
        #expect(error.message.contains(folder.archive))
        #expect(try Data(contentsOf: URL(filePath: folder.archive)) == Data(content.utf8))
    }

    @Test("a wrong write or schema version in the header counts as damage", arguments: [18, 47])
    func headerVersion(offset: Int) async throws {
        do {
            let archive = try SQLiteArchive(path: folder.archive)
            try await archive.record("mine")
            try await archive.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        var bytes = try Data(contentsOf: URL(filePath: folder.archive))
        // Removes the log, because SQLite would read the page from it.
        for suffix in ["-wal", "-shm"] { unlink(folder.archive + suffix) }
        bytes[offset] ^= 0x40
        try bytes.write(to: URL(filePath: folder.archive))
        let aside = try #require(try await SQLiteArchive.openCatchingUp(path: folder.archive).setAside)
        #expect(try Data(contentsOf: URL(filePath: aside)) == bytes)
    }

    @Test("a database from a newer fieldscribe or another program is refused")
    func foreignDatabase() async throws {
        do {
            let archive = try SQLiteArchive(path: folder.archive)
            try await archive.execute("PRAGMA user_version = 1000; UPDATE house SET version = 1000")
        }
        let newerError = try await refusal(of: folder.archive)
        #expect(newerError.code == .unsupported)
        #expect(newerError.message.contains("newer fieldscribe"))

        let otherPath = folder.path + "/other.sqlite"
        do {
            let connection = try Connection(path: otherPath)
            try connection.execute("CREATE TABLE bookmark (url TEXT)")
        }
        let foreignError = try await refusal(of: otherPath)
        #expect(foreignError.code == .unsupported)
        #expect(foreignError.message.contains("another program"))
    }

    @Test(
        "a version that is only in the header is reported as damage, whichever bits are flipped",
        arguments: [Migrations.version + 1, 11, 134_250_502])
    func onlyInHeader(version: Int) async throws {
        do {
            let archive = try SQLiteArchive(path: folder.archive)
            try await archive.execute("PRAGMA user_version = \(version)")
        }
        #expect(try await refusal(of: folder.archive).code == .damaged)
    }

    @Test("a journal that names a super-journal deletes nothing and is set aside")
    func superJournal() async throws {
        do { try await SQLiteArchive(path: folder.archive).record("mine") }
        let victim = "\(folder.path)/victim"
        try Data("precious".utf8).write(to: URL(filePath: victim))
        let database = try Data(contentsOf: URL(filePath: folder.archive))
        let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        func bytes(_ value: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(value).bigEndian) { Array($0) } }
        let pageSize = Int(database[16]) << 8 | Int(database[17])
        // The page count (0), a checksum seed, and the sizes of the database, a sector and a page.
        var journal = magic + bytes(0) + bytes(1) + bytes(database.count / pageSize) + bytes(512) + bytes(pageSize)
        journal += [UInt8](repeating: 0, count: 512 - journal.count)
        // The page number that marks the name; the name, its length and its checksum.
        let name = Array(victim.utf8)
        journal += bytes((1 << 30) / pageSize + 1) + name + bytes(name.count)
        journal += bytes(name.reduce(0) { $0 + Int($1) }) + magic
        try Data(journal).write(to: URL(filePath: "\(folder.archive)-journal"))

        let error = try await refusal(of: folder.archive)
        #expect(error.code == .damaged && error.message.contains("names another file"))
        #expect(await failure { _ = try Connection(sharing: folder.archive) }?.code == .damaged)
        let opened = try await SQLiteArchive.openCatchingUp(path: folder.archive)
        #expect(opened.setAside != nil)
        #expect(try Data(contentsOf: URL(filePath: victim)) == Data("precious".utf8))
    }

    @Test(
        "changed tables are reported as damage before anything is read from them",
        arguments: [
            """
            ALTER TABLE recording RENAME TO other;
            CREATE VIEW recording AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT * FROM n, other
            """, "CREATE TRIGGER evil AFTER INSERT ON pass BEGIN DELETE FROM segment; END",
            "ALTER TABLE house RENAME TO other; CREATE VIEW house AS SELECT * FROM other",
        ])
    func foreignSchema(sql: String) async throws {
        do {
            let archive = try SQLiteArchive(path: folder.archive)
            try await archive.record("mine")
            try await archive.execute(sql)
        }
        #expect(try await refusal(of: folder.archive).code == .damaged)
        #expect(await failure { _ = try ReadOnlyArchive(path: folder.archive) }?.code == .damaged)
    }

    @Test("an empty file of version 0 becomes an archive; a failed creation changes nothing")
    func migration() async throws {
        try Data().write(to: URL(filePath: folder.archive))
        do {
            let connection = try Connection(path: folder.archive)
            try connection.execute("PRAGMA max_page_count = 5")
            let error = await failure { try Migrations.apply(to: connection, path: folder.archive) }
            #expect(error?.code == .full)
            #expect(try connection.rows("SELECT count(*) FROM sqlite_schema") { $0.integer(0) } == [0])
            #expect(try connection.rows("PRAGMA user_version") { $0.integer(0) } == [0])
        }
        let archive = try SQLiteArchive(path: folder.archive)
        #expect(try await archive.count("PRAGMA user_version") == Migrations.version)
        #expect(try await archive.record("new").recording == 1)
    }

    @Test(
        "connections have the settings that make commits durable",
        arguments: [
            ("synchronous", "2"), ("journal_mode", "wal"), ("locking_mode", "normal"), ("foreign_keys", "1"),
            ("secure_delete", "1"),
        ])
    func settings(name: String, value: String) throws {
        let connection = try Connection(path: folder.archive)
        #expect(try connection.rows("PRAGMA \(name)") { $0.text(0) } == [value])
        #expect(!FileManager.default.fileExists(atPath: folder.archive + "-shm"))
    }

    @Test("a full disk is reported; committed text stays, and the same segment is accepted once there is space")
    func fullDisk() async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        let (recording, pass) = try await archive.record("kept")
        try await archive.execute("PRAGMA max_page_count = \(try await archive.count("PRAGMA page_count"))")
        let longSegment = segment(2, at: 50_000, String(repeating: "word ", count: 5_000))
        let error = await failure { try await archive.commit(longSegment, pass: pass, recording: recording) }
        #expect(error?.code == .full)
        #expect(try await archive.transcript(of: recording)?.1.segments.map(\.text) == ["kept"])
        try await archive.execute("PRAGMA max_page_count = 100000")
        try await archive.commit(longSegment, pass: pass, recording: recording)
        #expect(try await archive.transcript(of: recording)?.1.segments.last == longSegment)
    }

    @Test(
        "an unwritable path is refused with a reason",
        arguments: [
            ("/sys/archive.sqlite", .denied), ("/dev/null/archive.sqlite", .missing), ("/usr", .damaged),
            (":memory:", .unsupported),
        ] as [(String, DeviceError.Code)])
    func unwritable(path: String, code expected: DeviceError.Code) async throws {
        let error = try await refusal(of: path)
        #expect(error.code == expected)
        #expect(error.message.contains(path) || error.message.contains("/dev/null"))
        #expect(!error.message.contains("\n"))
    }

    @Test("a missing folder is created with access only for its owner")
    func parentFolder() throws {
        let path = folder.path + "/a/b/archive.sqlite"
        _ = try SQLiteArchive(path: path)
        for path in [folder.path + "/a", folder.path + "/a/b"] {
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_mode & 0o077 == 0)
        }
    }

    @Test("after the process is killed, the archive's files contain every committed segment")
    func killed() async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        try await archive.record("one", "two", "three")
        // Copies the files while they are open, as a killed process would leave them.
        let copy = folder.path + "/copy.sqlite"
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.archive + suffix, toPath: copy + suffix)
        }
        let recovered = try SQLiteArchive(path: copy)
        #expect(try await recovered.transcript(of: 1)?.1.segments.map(\.text) == ["one", "two", "three"])
        #expect(try await recovered.record("four").recording == 2)
        // The original archive still works.
        try await archive.record("other")
        #expect(try await archive.search("four", limit: 1).isEmpty)
    }

    @Test(
        "SQLite's result codes are mapped to DeviceError's",
        arguments: [
            (10 | 3 << 8, ENOSPC, .full), (10 | 3 << 8, EIO, .failed), (13, 0, .full), (11, 0, .damaged),
            (11 | 1 << 8, 0, .damaged), (26, 0, .damaged), (5, 0, .busy), (5 | 2 << 8, 0, .busy), (8, 0, .denied),
            (14, EACCES, .denied), (14, ENOENT, .missing), (14, EISDIR, .unsupported), (1, 0, .failed),
        ] as [(Int32, Int32, DeviceError.Code)])
    func codes(status: Int32, systemStatus: Int32, code: DeviceError.Code) {
        let error = DeviceError.sqlite(
            "sqlite3_step", status: status, systemStatus: systemStatus, path: "card/archive.sqlite", detail: "detail")
        #expect(error.code == code)
        #expect(error.status == status)
        #expect(error.message.hasPrefix("card/archive.sqlite: "))
    }

    @Test(
        "if the limit on open files prevents opening an archive, the error names that limit",
        arguments: [EMFILE, ENFILE])
    func tooManyOpenFiles(systemStatus: Int32) {
        let error = DeviceError.sqlite(
            "sqlite3_open_v2", status: 14, systemStatus: systemStatus, path: "archive.sqlite", detail: "unable to open")
        #expect(error.message.contains("ulimit -n"))
    }
}
