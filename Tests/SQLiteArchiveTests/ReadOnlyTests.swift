import FoundationEssentials
import Glibc
import Testing

@testable import Archive
@testable import Core

@Suite("A read-only archive")
struct ReadOnlyTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func fill() async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        try await archive.record("kept as it is", "and found")
    }

    /// The names and contents of all files in the folder.
    private func content() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return Dictionary(
            uniqueKeysWithValues: names.map {
                ($0, (try? Data(contentsOf: URL(filePath: "\(folder.path)/\($0)"))) ?? Data())
            })
    }

    @Test("can be listed, shown and searched, and nothing in its folder changes")
    func read() async throws {
        try await fill()
        let before = try content()
        let archive = try ReadOnlyArchive(path: folder.archive)
        #expect(try await archive.recordings().map(\.id) == [1])
        #expect(try await archive.transcript(of: 1)?.1.segments.map(\.text) == ["kept as it is", "and found"])
        #expect(try await archive.search("found", limit: 5).map(\.excerpt) == ["and [found]"])
        #expect(try await archive.shownPass(of: 1)?.lastSegment == 2)
        #expect(try content() == before)
    }

    @Test("includes a log that a killed process left")
    func remainingLog() async throws {
        let owner = try SQLiteArchive(path: folder.archive)
        try await owner.record("only in the log")
        let card = try TemporaryFolder()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.archive + suffix, toPath: card.archive + suffix)
        }
        let archive = try ReadOnlyArchive(path: card.archive)
        #expect(try await archive.search("log", limit: 5).map(\.text) == ["only in the log"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: card.path).count == 2)
        try await owner.endRecording(1, length: SamplePosition(8_000), reason: .button)
    }

    @Test("is refused with a reason if it is missing, or from another version or program")
    func otherVersionsAndPrograms() async throws {
        try await fill()
        do {
            let connection = try Connection(path: folder.archive)
            try connection.execute("PRAGMA user_version = 2; PRAGMA wal_checkpoint(TRUNCATE)")
            connection.keepLog(false)
        }
        let versionError = await failure { _ = try ReadOnlyArchive(path: folder.archive) }
        #expect(versionError?.code == .unsupported && versionError?.message.contains("another version") == true)
        let letter = folder.path + "/100%?#.sqlite"
        try Data("This is a letter, and it is long enough.".utf8).write(to: URL(filePath: letter))
        #expect(await failure { _ = try ReadOnlyArchive(path: letter) }?.code == .damaged)
        #expect(await failure { _ = try ReadOnlyArchive(path: folder.path + "/none") }?.code == .missing)
    }

    // wait: a timeout, in case the archive opens the pipe, which would block
    @Test("is refused without waiting if it is a pipe, a folder or a link", .timeLimit(.minutes(60)))
    func notRegularFile() async throws {
        let path = folder.path + "/archive"
        let makers: [(String) -> Int32] = [
            { mkfifo($0, 0o600) }, { mkdir($0, 0o700) }, { symlink("nowhere", $0) },
        ]
        for make in makers {
            #expect(make(path) == 0)
            let failure = await failure { _ = try ReadOnlyArchive(path: path) }
            #expect(failure?.code == .damaged, "\(failure as Any)")
            #expect(failure?.message.contains("is not a regular file") == true)
            remove(path)
        }
        // A pipe in place of a database's log.
        try await fill()
        #expect(mkfifo(folder.archive + "-wal", 0o600) == 0)
        #expect(await failure { _ = try ReadOnlyArchive(path: folder.archive) }?.code == .damaged)
    }
}
