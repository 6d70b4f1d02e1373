import FoundationEssentials
import Testing

@testable import Archive
@testable import Core

@Suite("An archive from the last build before 1.0")
struct MigrationTests {
    let folder: TemporaryFolder

    /// Restores the archive from its dump.
    init() throws {
        folder = try TemporaryFolder()
        let dump = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "schema-11.sql")
        let connection = try Connection(path: folder.archive)
        try connection.execute(String(contentsOf: dump, encoding: .utf8))
        connection.keepLog(false)
    }

    private func schema(of archive: SQLiteArchive) async throws -> [String] {
        try await archive.texts(
            """
            SELECT m.name || ' ' || x.name || ' ' || x.type || ' ' || x."notnull" || ' ' || coalesce(x.dflt_value, '') || ' ' || x.pk
                FROM sqlite_schema m, pragma_table_xinfo(m.name) x WHERE m.type = 'table' ORDER BY m.name, x.cid
            """)
            + archive.texts(
                "SELECT name || sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql > '' ORDER BY name")
    }

    @Test("keeps its contents and gets the tables of version 1")
    func upgrade() async throws {
        let opened = try await SQLiteArchive.openCatchingUp(path: folder.archive)
        let archive = opened.archive
        #expect(opened.setAside == nil)
        #expect(try await archive.count("PRAGMA user_version") == 1)
        #expect(try await archive.count("SELECT version FROM house") == 1)
        let newFolder = try TemporaryFolder()
        #expect(try await schema(of: archive) == schema(of: SQLiteArchive(path: newFolder.archive)))

        #expect(try await archive.recordings().map(\.length.samples) == [47_840, 134_400])
        #expect(try await archive.passes(of: 1).map(\.profile) == ["live", "final"])
        #expect(try await archive.passes(of: 2).map { $0.correction?.person } == [nil, nil, "Ann"])
        #expect(try await archive.unfinished().isEmpty)
        let (_, firstTimeline) = try #require(try await archive.transcript(of: 1))
        #expect(firstTimeline.segments.map(\.text) == ["he was not until exposed young man"])
        let (_, secondTimeline) = try #require(try await archive.transcript(of: 2))
        #expect(secondTimeline.segments.first?.words.prefix(4).map(\.text) == ["Mr.", "John", "Dashwood", "had"])
        #expect(secondTimeline.marks == [Bookmark(SamplePosition(67_200), text: "third chair")])
        #expect(try await archive.search("Dashwood", limit: 9).map(\.recording) == [2])
        #expect(try await archive.exports(of: 2).map(\.volume) == ["folder:/media/usb"])
        #expect(try await archive.count("SELECT max(number) FROM history") >= 9)
        // Recording 3 was deleted; its number is not reused.
        #expect(try await archive.record("new").recording == 4)
    }

    @Test("can be opened read-only")
    func readOnly() async throws {
        let archive = try ReadOnlyArchive(path: folder.archive)
        #expect(try await archive.search("Dashwood", limit: 9).map(\.recording) == [2])
    }

    @Test("is reported as damaged, and not upgraded, if its tables differ from the expected ones")
    func changedTables() async throws {
        do {
            let connection = try Connection(path: folder.archive)
            try connection.execute("ALTER TABLE turn ADD COLUMN other TEXT")
            connection.keepLog(false)
        }
        #expect(await failure { _ = try SQLiteArchive(path: folder.archive) }?.code == .damaged)
        let connection = try Connection(path: folder.archive)
        #expect(try connection.rows("PRAGMA user_version") { $0.integer(0) } == [11])
    }

    @Test("gets missing journals, from which it can be rebuilt")
    func journals() async throws {
        for id in 1...2 {
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/recordings/00000\(id)", withIntermediateDirectories: true)
        }
        do {
            let archive = try SQLiteArchive(path: folder.archive)
            for id in 1...2 { #expect(try await archive.repairJournal(of: id)) }
        }
        try FileManager.default.removeItem(atPath: folder.archive)
        let archive = try await SQLiteArchive.openCatchingUp(path: folder.archive).archive
        let (summary, timeline) = try #require(try await archive.transcript(of: 1))
        #expect(summary.length.samples == 47_840 && summary.clock == .unverified)
        #expect(timeline.segments.first?.words.map(\.text).prefix(2) == ["he", "was"])
    }
}

extension SQLiteArchive {
    fileprivate func texts(_ sql: String) throws -> [String] { try connection.rows(sql) { $0.text(0) } }
}
