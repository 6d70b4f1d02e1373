import Glibc
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System
@testable import Transcripts

/// Gathers copies that were made before and after a redaction, in any order.
@Suite("Redactions in an archive") struct OfficeRedactionTests {
    init() { signal(SIGPIPE, SIG_IGN) }

    /// Copies a recording with a secret to the stick `old`, then redacts the secret, and copies the recording to the stick
    /// `new`.
    private func recorder(_ desk: OfficeDesk) async throws -> FieldRecorder {
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "a secret", pass: 5)
        try await recorder.copy(to: desk.stick("old"))
        shell("sox -R -n -r 16000 -b 16 -c 1 '\(recorder.audioPath(1))' synth 3.75 pinknoise gain -6 pad 0 0.25")
        await recorder.record(1, "a", pass: 1, redacted: true)
        try await recorder.copy(to: desk.stick("new"))
        return recorder
    }

    private func areEqual(_ file: String, _ other: String) -> Bool { shell("cmp -s '\(file)' '\(other)'").status == 0 }

    @Test(
        "sound copied before a redaction is never played, exported or linked, in any order; its copy is reported",
        arguments: ArchiveKind.all, [["new", "old"], ["old", "new"], ["old+new"]])
    func sound(kind: ArchiveKind, order: [String]) async throws {
        let desk = try OfficeDesk(kind)
        let recorder = try await recorder(desk)
        let new = try #require(recorder.copies(on: desk.stick("new")).first)
        let old = try #require(recorder.copies(on: desk.stick("old")).first)
        #expect(!areEqual("\(new)/audio.flac", "\(old)/audio.flac"))
        for names in order.dropLast() { #expect(try desk.gather(desk.stick(names)).outdated == []) }
        let last = try #require(order.last).split(separator: "+").map { "'\(desk.stick(String($0)))'" }
        let run = try desk.run("gather \(last.joined(separator: " ")) \(desk.into) --page")
        #expect(run.status == 0 && run.output.contains("1 copy contains passages that were redacted later"), "\(run)")
        let archive = try desk.archive()
        let recording = try #require(try archive.recordings(OfficeFilter()).first)
        #expect(areEqual("\(desk.archivePath)/\(recording.copyFolder)/audio.flac", "\(new)/audio.flac"))
        #expect(try archive.recording(1)?.copyFolder == recording.copyFolder)
        let digest = try #require(try archive.samplesDigest(of: recording.id))
        #expect(try text("\(new)/index.html").contains(digest) && !text("\(old)/index.html").contains(digest))
        // A user may remove the outdated copy.
        let copies = desk.copies()
        #expect(copies.count == 2)
        let outdated = copies.filter { $0 != recording.copyFolder }
        #expect(
            run.errors.contains("\(desk.archivePath)/\(outdated[0]): contains passages that were redacted later"),
            "\(run)")
        let index = try text("\(desk.archivePath)/index.html")
        #expect(index.contains(recording.copyFolder) && !index.contains(outdated[0]))
        let exported = try desk.run("export --to '\(desk.stick("out"))'")
        #expect(exported.status == 0, "\(exported)")
        #expect(
            shell("cat '\(desk.stick("out"))'/Fieldscribe/*/*/transcript.txt").output.contains("secret") == false
                && shell("ls -d '\(desk.stick("out"))'/Fieldscribe/*/*/").output.split(separator: "\n").count == 1)
        shell("rm -r '\(desk.archivePath)/\(outdated[0])'")
        let again = try desk.gather(desk.stick("old"), desk.stick("new"))
        #expect(again.known == 2 && again.outdated == [] && desk.copies() == [recording.copyFolder])
    }

    @Test("redactions of a copy without a transcript are found in its history", arguments: ArchiveKind.all)
    func history(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "a")
        var before: HistoryLine?
        for (number, act) in [(1, "recorded"), (2, "struck")] {
            before = try await recorder.addEntry(number, act, before: before)
            try await recorder.copy(to: desk.stick(act))
            let copy = try #require(recorder.copies(on: desk.stick(act)).first)
            shell("cd '\(copy)' && rm transcript.json && sha256sum $(ls | grep -v SHA256) > SHA256SUMS")
        }
        try desk.gather(desk.stick("struck"))
        let folder = try #require(try desk.archive().recordings(OfficeFilter()).first?.copyFolder)
        let report = try desk.gather(desk.stick("recorded"))
        #expect(report.taken == 1 && report.outdated.count == 1 && !report.outdated[0].hasSuffix(folder), "\(report)")
        #expect(try desk.archive().recordings(OfficeFilter()).map(\.copyFolder) == [folder])
    }

    @Test("a copy from an earlier version, with an unknown number of redactions, is not reported as outdated")
    func migrated() async throws {
        for kind in ArchiveKind.all {
            let desk = try OfficeDesk(kind)
            let recorder = try await recorder(desk)
            await recorder.record(2, "more", redacted: true)
            try await recorder.copy(to: desk.stick("new"))
            try desk.gather(desk.stick("old"), desk.stick("new"))
            let earlier = """
                DROP INDEX fieldscribe.copy_struck; DROP INDEX fieldscribe.reading_struck;
                DROP INDEX fieldscribe.copy_of_recording; ALTER TABLE fieldscribe.copy DROP COLUMN struck;
                CREATE INDEX copy_of_recording ON fieldscribe.copy (recording);
                """
            let query = "SELECT recording, struck FROM fieldscribe.copy ORDER BY id"
            let rows: String
            switch kind {
            case .folder:
                let database = "\(desk.archivePath)/office.sqlite"
                let plain = { (sql: String) in sql.replacing("fieldscribe.", with: "") }
                shell("sqlite3 '\(database)' '\(plain(earlier)) PRAGMA user_version = 2'")
                #expect(try desk.archive().outdatedFolders() == [])
                rows = shell("sqlite3 '\(database)' '\(plain(query))'").output
            case .server(let server):
                let address = try #require(desk.database)
                let downgraded = server.sql(earlier + "UPDATE fieldscribe.house SET version = 2", on: address)
                #expect(downgraded.status == 0, "\(downgraded)")
                #expect(try desk.archive().outdatedFolders() == [])
                rows = server.sql(query, on: address).output
            }
            #expect(rows == "1|-1\n1|-1\n2|1\n", "\(kind)")
            #expect(try desk.archive().recordings(OfficeFilter()).count == 2)
        }
    }

    private func text(_ path: String) throws -> String { String(decoding: try content(ofFile: path), as: UTF8.self) }
}
