import Glibc
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System
@testable import Transcripts

@Suite("Moving an archive") struct ArchiveMoveTests {
    init() { signal(SIGPIPE, SIG_IGN) }

    /// All pairs of archive kinds.
    static let kindPairs: [(ArchiveKind, ArchiveKind)] = ArchiveKind.all.flatMap { source in
        ArchiveKind.all.map { (source, $0) }
    }

    private func fill(_ desk: OfficeDesk) async throws {
        for (name, digit) in [("pi", "1"), ("pi", "2")] {
            let recorder = FieldRecorder(name, identity: FieldRecorder.identity(Character(digit)))
            await recorder.record(1, "phone yo number \(digit)")
            try await recorder.copy(to: desk.stick(digit))
            try desk.gather(desk.stick(digit))
        }
    }

    /// Returns a description of each recording and all its transcripts.
    private func descriptions(_ desk: OfficeDesk) throws -> [String] {
        let archive = try desk.archive()
        return try archive.recordings(OfficeFilter()).map { recording in
            let transcripts = try archive.transcripts(of: recording.id).map { transcript in
                let timeline = try archive.timeline(ofTranscript: transcript.id)
                let text = timeline?.segments.map(\.text).joined(separator: " ") ?? ""
                return "\(transcript.engine) \(transcript.person ?? "-") \(transcript.madeAt) \(text)"
            }
            let historyCount = try archive.history(of: recording.id).count
            return "\(recording.recorder.folder) \(recording.number) \(recording.title) \(historyCount): \(transcripts)"
        }.sorted()
    }

    @Test(
        "copies and transcripts can be moved to an archive of either kind, and each is added once",
        arguments: kindPairs)
    func moves(sourceKind: ArchiveKind, targetKind: ArchiveKind) async throws {
        let desk = try OfficeDesk(sourceKind)
        try await fill(desk)
        let archive = try desk.archive()
        for recording in try archive.recordings(OfficeFilter()) {
            var timeline = try #require(try archive.timeline(ofTranscript: archive.transcripts(of: recording.id)[0].id))
            timeline.engine = EngineDescription(name: "better", version: "", model: "")
            timeline.segments[0].words[0].text = "fonio"
            let second = GatheredTranscript(digest: "second", timeline: timeline, person: nil, madeAt: 1_800_000_000)
            #expect(try archive.add(second, of: recording.id))
            timeline.annotations = Annotations(people: "Awa")
            timeline.annotations?.title = "The harvest"
            #expect(
                try archive.add(
                    GatheredTranscript(digest: "third", timeline: timeline, person: "Awa", madeAt: 1_800_000_001),
                    of: recording.id))
        }
        let other = try OfficeDesk(targetKind)
        let source = desk.database.map { "'\($0)'" } ?? "'\(desk.archivePath)'"
        let run = try other.run("gather \(source) \(other.into) --json")
        #expect(run.status == 0 && run.errors == "", "\(run)")
        #expect(run.output.contains("\"taken\" : 2") && run.output.contains("\"texts\" : 2"), "\(run)")
        #expect(run.output.contains("\"corrections\" : 2"), "\(run)")
        // All properties of the report are encoded, so a new property adds a key.
        let lines = run.output.split(separator: "\n").filter { $0.hasPrefix("  \"") }
        let keys = lines.map { $0.split(separator: "\"")[1] }
        let expected = "archive bytes corrections known notes outdated problems sealed taken texts"
        #expect(keys.joined(separator: " ") == expected, "\(run)")
        #expect(try descriptions(other) == descriptions(desk) && other.copies() == desk.copies())
        #expect(try other.found("fonio").count == 2)
        let again = try other.run("gather \(source) \(other.into)")
        #expect(again.status == 0 && again.output.hasSuffix(": 0 copies added, 2 already there\n"), "\(again)")
    }

    @Test(
        "unreadable archives and damaged copies are reported in one line each, and everything else is added",
        arguments: ArchiveKind.all)
    func refused(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk()
        try await fill(desk)
        let copy = desk.copies()[0]
        shell("printf x >> '\(desk.archivePath)/\(copy)/audio.flac'")
        let newer = try OfficeDesk()
        _ = try newer.archive()
        shell("sqlite3 '\(newer.archivePath)/office.sqlite' 'PRAGMA user_version = 99'")
        let other = try OfficeDesk(kind)
        let run = try other.run(
            "gather '\(desk.archivePath)' '\(newer.archivePath)' postgresql:///none?host=/nowhere \(other.into)")
        let lines = run.errors.split(separator: "\n")
        #expect(run.status == 4 && lines.count == 3 && lines.contains { $0.contains("schema 99") }, "\(run)")
        #expect(lines.contains { $0.contains("connecting failed") }, "\(run)")
        #expect(lines.contains { $0.contains("audio.flac: does not match its checksum") }, "\(run)")
        #expect(other.copies().count == 1 && run.output.contains("1 copy added, 3 refused"))
        #expect(try desk.run("gather x --from-files y").status == 2)
    }

    @Test("a database dump can be restored beside the archive's files", .enabled(if: TestServer.shared != nil))
    func backup() async throws {
        let server = try #require(TestServer.shared)
        let desk = try OfficeDesk(.server(server))
        try await fill(desk)
        let dump = desk.folder.file("dump")
        let other = try server.newDatabase()
        let run = shell(
            """
            '\(server.programs)/pg_dump' --format custom --schema fieldscribe '\(desk.database ?? "")' > '\(dump)' &&
            '\(server.programs)/psql' -q '\(other)' -c 'CREATE EXTENSION unaccent; CREATE EXTENSION pg_trgm' &&
            '\(server.programs)/pg_restore' -d '\(other)' '\(dump)'
            """)
        #expect(run.status == 0, "\(run)")
        let archive = try OfficeDatabase(other, files: nil, creates: false)
        #expect(try archive.search(OfficeQuery("phone"), OfficeFilter(), limit: 5).count == 2)
        #expect(try archive.recordings(OfficeFilter()) == desk.archive().recordings(OfficeFilter()))
    }

    @Test("a read-only archive is listed, searched and gathered")
    func readOnlyArchive() async throws {
        guard geteuid() == 0 else { return print("➜ skipped: only root can switch to another user") }
        let desk = try OfficeDesk()
        try await fill(desk)
        shell("chmod -R a+rX '\(desk.folder.path)'; chmod a-w '\(desk.archivePath)'")
        shell("install -m 755 '\(try officeProgram())' '\(desk.folder.file("office"))'")
        shell("install -d -o nobody '\(desk.folder.file("theirs"))'")
        let run = { (arguments: String) in
            shell(
                "setpriv --reuid=65534 --regid=65534 --clear-groups '\(desk.folder.file("office"))' \(arguments)")
        }
        let searched = run("search phone --archive '\(desk.archivePath)'")
        #expect(searched.status == 0 && searched.output.split(separator: "\n").count == 2, "\(searched)")
        let similar = run("search phones --alike --archive '\(desk.archivePath)'")
        #expect(similar.status == 0 && similar.output.contains("phones, or phone"), "\(similar)")
        let moved = run("gather '\(desk.archivePath)' --into '\(desk.folder.file("theirs"))/archive'")
        #expect(moved.status == 0 && moved.output.contains("2 copies added"), "\(moved)")
        let denied = run("gather '\(desk.stick("1"))' --into '\(desk.archivePath)'")
        #expect(denied.status == 1 && denied.output.split(separator: "\n").count == 1, "\(denied)")
    }

    @Test(
        "a recorder's own archive, copied to a laptop, is gathered once and stays unchanged", arguments: ArchiveKind.all
    )
    func recorderArchive(kind: ArchiveKind) throws {
        let desk = try OfficeDesk(kind)
        let storage = desk.folder.file("pi")
        let recorder = "\(try officeProgram().dropLast("-office".count))"
        for seconds in [1, 2] {
            let recorded = shell(
                "'\(recorder)' record --audio-only --seconds \(seconds) --microphone tone+fast:440 --directory '\(storage)'"
            )
            #expect(recorded.status == 0, "\(recorded.output)")
        }
        // Exporting creates the recorder's key.
        let stick = desk.stick("one")
        shell("mkdir '\(stick)'")
        let copied = shell("'\(recorder)' export --to '\(stick)' --directory '\(storage)'")
        #expect(copied.status == 0, "\(copied.output)")
        let before = shell("cd '\(storage)' && find . -type f | sort | xargs sha256sum").output
        let run = try desk.run("gather '\(storage)' \(desk.into)")
        #expect(run.status == 0 && run.output.contains("2 copies added"), "\(run)")
        #expect(desk.copies().count == 2)
        let recordings = try desk.archive().recordings(OfficeFilter())
        #expect(recordings.map(\.number).sorted() == [1, 2] && recordings.allSatisfy { $0.recorder.name == "pi" })
        let again = try desk.run("gather '\(storage)' \(desk.into)")
        #expect(again.output.contains("0 copies added, 2 already there"), "\(again)")
        #expect(shell("cd '\(storage)' && find . -type f | sort | xargs sha256sum").output == before)
        for command in ["list --archive '\(storage)'", "gather '\(desk.stick("none"))' --into '\(storage)'"] {
            let refused = try desk.run(command)
            #expect(
                refused.status == 1 && refused.errors.contains("\(storage): is a recorder's own archive; "),
                "\(refused)")
            #expect(refused.errors.contains("fieldscribe list --directory \(storage), ") == command.hasPrefix("list"))
        }
        // The stick has different copies of the same recordings.
        try desk.gather(stick)
        #expect(try desk.archive().recordings(OfficeFilter()).count == 2)
        shell("rm '\(storage)/archive.sqlite'; echo nonsense > '\(storage)/archive.sqlite'")
        let damaged = try desk.run("gather '\(storage)' \(desk.into)")
        #expect(damaged.status == 4 && damaged.errors.split(separator: "\n").count == 1, "\(damaged)")
    }
}
