import Glibc
import Testing
import TestKit

@testable import Copying
@testable import Core
@testable import Office
@testable import System
@testable import Transcripts

@Suite("Gathering") struct GatheringTests {
    // The program also ignores this signal, because a child process may exit before it has read all its input.
    init() { signal(SIGPIPE, SIG_IGN) }

    @Test("adds complete copies of several recorders, each once", arguments: ArchiveKind.all)
    func addsOnce(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        let first = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await first.record(1, "we planted fonio that year", "and waited")
        await first.record(2, "the rains came late")
        try await first.copy(to: desk.stick("one"))
        let second = FieldRecorder("zero", identity: FieldRecorder.identity("b"))
        await second.record(1, "fonio is a grain")
        try await second.copy(to: desk.stick("two"))

        let report = try desk.gather(desk.stick("one"), desk.stick("two"))
        #expect(report.taken == 3 && report.known == 0 && report.problems == [] && report.notes == [])
        #expect(desk.copies().count == 3)
        let sums = shell("cd '\(desk.archivePath)' && find . -type f ! -name office.sqlite | sort | xargs sha256sum")
            .output
        #expect(
            try desk.found("fonio") == [
                "zero-bbbbbbbb: [fonio] is a grain", "pi-aaaaaaaa: we planted [fonio] that year",
            ])
        let again = try desk.gather(desk.stick("two"), desk.stick("one"))
        #expect(again.taken == 0 && again.known == 3 && again.problems == [])
        #expect(
            shell("cd '\(desk.archivePath)' && find . -type f ! -name office.sqlite | sort | xargs sha256sum").output
                == sums)
        #expect(try desk.archive().recordings(OfficeFilter()).count == 3)
    }

    @Test(
        "two recorders with the same name stay separate; two sticks from one recorder are merged",
        arguments: ArchiveKind.all)
    func sameName(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        let (first, second) = (
            FieldRecorder("pi", identity: FieldRecorder.identity("1")),
            FieldRecorder("pi", identity: FieldRecorder.identity("2"))
        )
        await first.record(1, "here")
        try await first.copy(to: desk.stick("a"))
        await first.record(2, "again")
        try await first.copy(to: desk.stick("b"))
        await second.record(1, "there")
        try await second.copy(to: desk.stick("c"))
        try desk.gather(desk.stick("a"), desk.stick("b"), desk.stick("c"))
        let recordings = try desk.archive().recordings(OfficeFilter()).map { "\($0.recorder.folder) \($0.number)" }
        #expect(recordings.sorted() == ["pi-11111111 1", "pi-11111111 2", "pi-22222222 1"])
    }

    @Test(
        "changed copies are refused and named, and all others are added",
        arguments: [
            (
                "printf x >> 'C/audio.flac'",
                "C/audio.flac: does not match its checksum; look for another copy of it"
            ),
            (
                "sed -i s/late/soon/ 'C/transcript.json'",
                "C/transcript.json: does not match its checksum; look for another copy of it"
            ),
            (
                "rm 'C/audio.flac'",
                "C/audio.flac: is missing, so the copy is incomplete; plug the stick into its recorder again"
            ),
            (
                "rm 'C/SHA256SUMS'",
                "C: is an incomplete copy; plug the stick into its recorder again to complete it"
            ),
            (
                "mv 'C' 'C/../partial'",
                "C/../partial: is an incomplete copy; plug the stick into its recorder again to complete it"
            ),
            ("echo x > 'C/SHA256SUMS'", "C/SHA256SUMS: is damaged; copy the recording again"),
            (": > 'C/SHA256SUMS'", "C/SHA256SUMS: is damaged; copy the recording again"),
            (
                "rm 'C/audio.flac'; mkfifo 'C/audio.flac'",
                "C/audio.flac: is not a regular file; remove or rename it"
            ),
            (
                "truncate -s 65M 'C/transcript.json'",
                "C/transcript.json: is too large for a recording's text; look for another copy of it"
            ),
            (
                "truncate -s 65M 'C/SHA256SUMS.minisig'",
                "C/SHA256SUMS.minisig: is too large for a recording's text; look for another copy of it"
            ),
            (
                "ln -sf /etc/passwd 'C/audio.flac'",
                "C/audio.flac: is a link or another file system; nothing is read or written through it; rename or remove it"
            ),
            (
                "cd 'C'; echo '[' > history.json; sha256sum audio.flac history.json index.html transcript.* > SHA256SUMS",
                "C/history.json: is not a valid history, or was changed; look for another copy of it"
            ),
            (
                "cd 'C'; echo '{' > transcript.json; sha256sum audio.flac history.json index.html transcript.* > SHA256SUMS",
                "C/transcript.json: is not a Fieldscribe transcript"
            ),
        ])
    func refused(change: String, line: String) async throws {
        let desk = try OfficeDesk()
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "the rains came late")
        await recorder.record(2, "we waited")
        try await recorder.copy(to: desk.stick("one"))
        let copy = recorder.copies(on: desk.stick("one"))[0]
        #expect(shell(change.replacing("C/", with: "\(copy)/").replacing("'C'", with: "'\(copy)'")).status == 0)
        let report = try desk.gather(desk.stick("one"))
        #expect(report.taken == 1)
        let recorderFolder = "\(desk.stick("one"))/Fieldscribe/pi"
        let isRenamed = line.hasPrefix("C/../")
        let expected = isRenamed ? line.replacing("C/..", with: recorderFolder) : copy + line.dropFirst()
        #expect(report.problems == [expected])
        #expect(desk.copies().count == 1 && desk.archiveNames == ["pi-aaaaaaaa"])
        #expect(try desk.archive().recordings(OfficeFilter()).map(\.number) == [2])
    }

    @Test(
        "an empty folder, a missing folder and the archive itself are reported", arguments: ArchiveKind.all)
    func emptyFolder(kind: ArchiveKind) throws {
        let desk = try OfficeDesk(kind)
        try makeFolder(desk.stick("empty"))
        let report = try desk.gather(desk.stick("empty"), desk.stick("none"), desk.archivePath)
        #expect(report.taken == 0 && report.problems.count == 3)
        #expect(report.problems[0] == "\(desk.stick("empty")): contains no copy of a recording")
        #expect(report.problems[1].hasPrefix("\(desk.stick("none")): "))
        #expect(report.problems[2] == "\(desk.archivePath): is the archive itself; choose another folder")
    }

    @Test("a newer transcript is added beside the previous one, and is shown", arguments: ArchiveKind.all)
    func newerTranscript(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "phone yo", pass: 1)
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        await recorder.archive.setLastPass(4, isComplete: true)
        await recorder.record(1, "fonio", annotations: Annotations(people: "Awa"), pass: 2)
        try await recorder.copy(to: desk.stick("one"))
        let report = try desk.gather(desk.stick("one"))
        #expect(report.taken == 1 && report.problems == [])
        #expect(try desk.found("fonio") == ["pi-aaaaaaaa: [fonio]"])
        #expect(try desk.found("phone") == [])
        let recording = try #require(try desk.archive().recordings(OfficeFilter()).first)
        #expect(recording.transcriptCount == 2 && recording.people == "Awa")
        #expect(desk.copies().count == 2)
    }

    @Test("a transcript made before a redaction is never shown again", arguments: ArchiveKind.all)
    func redacted(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "a secret", pass: 5)
        try await recorder.copy(to: desk.stick("old"))
        await recorder.record(1, "a", pass: 1, redacted: true)
        try await recorder.copy(to: desk.stick("new"))
        try desk.gather(desk.stick("new"), desk.stick("old"))
        #expect(try desk.found("secret") == [])
        let recordings = try desk.archive().recordings(OfficeFilter())
        #expect(recordings.map(\.transcriptCount) == [2])
    }

    @Test("an archive can be gathered into another one, which then has the same recorders", arguments: ArchiveKind.all)
    func archives(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        for (name, digit) in [("pi", "1"), ("pi", "2")] {
            let recorder = FieldRecorder(name, identity: FieldRecorder.identity(Character(digit)))
            await recorder.record(1, "number \(digit)")
            try await recorder.copy(to: desk.stick(digit))
        }
        let unidentified = FieldRecorder("old")
        await unidentified.record(3, "without a number")
        try await unidentified.copy(to: desk.stick("3"))
        try desk.gather(desk.stick("1"), desk.stick("2"), desk.stick("3"))
        let other = try OfficeDesk(kind)
        let report = try other.gather(desk.archivePath)
        #expect(report.taken == 3 && report.problems == [])
        #expect(other.copies() == desk.copies())
        let recorders = try desk.archive().recordings(OfficeFilter()).map(\.recorder)
        let describe = { (recorder: Recorder) -> String in
            "\(recorder.folder) \(recorder.name) \(recorder.machine ?? "")"
        }
        let others = try other.archive().recordings(OfficeFilter()).map(\.recorder)
        #expect(Set(others.map(describe)) == Set(recorders.map(describe)))
        #expect(Set(recorders.map(\.folder)) == ["pi-11111111", "pi-22222222", "old"])
    }

    @Test("the history of a recording is merged from all its copies", arguments: ArchiveKind.all)
    func history(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "one")
        var lines: [HistoryLine] = []
        for (number, act) in [(1, "recorded"), (2, "written"), (5, "copied")] {
            lines.append(try await recorder.addEntry(number, act, before: lines.last))
            if number > 1 { try await recorder.copy(to: desk.stick("\(number)")) }
        }
        let report = try desk.gather(desk.stick("5"), desk.stick("2"))
        #expect(report.problems == [] && report.taken == 2)
        let archive = try desk.archive()
        let recordings = try archive.recordings(OfficeFilter())
        #expect(recordings.count == 1 && recordings[0].startedAt == 1_795_163_412)
        #expect(try archive.history(of: recordings[0].id).map(\.text) == lines.map(\.text))
        #expect(try desk.run("history 1").output.split(separator: "\n").count == 3)
    }

    @Test("a database that is newer, damaged or another program's is refused in one line and stays unchanged")
    func versions() throws {
        let desk = try OfficeDesk()
        #expect(thrown { _ = try OfficeFolder(desk.archivePath, creates: false) }?.code == .missing)
        _ = try desk.archive()
        let database = "\(desk.archivePath)/office.sqlite"
        shell("sqlite3 '\(database)' 'PRAGMA user_version = 99'")
        #expect(
            thrown { _ = try desk.archive() }?.message
                == "\(database): was written by a newer fieldscribe-office (schema 99; this version supports up to 3); "
                + "update fieldscribe-office"
        )
        shell("rm '\(database)'; sqlite3 '\(database)' 'CREATE TABLE x (y)'")
        #expect(
            thrown { _ = try desk.archive() }?.message
                == "\(database): is another program's database; choose another archive")
        shell("echo nonsense > '\(database)'")
        #expect(thrown { _ = try desk.archive() }?.code == .damaged)
        let run = try desk.run("list")
        #expect(run.status == 4 && run.errors.split(separator: "\n").count == 1)
    }

    @Test("an archive without write permission is reported in one line")
    func denied() async throws {
        let desk = try OfficeDesk()
        guard getuid() == 0 else { return print("skipped: only root can run it as another user") }
        let recorder = FieldRecorder()
        await recorder.record(1, "one")
        try await recorder.copy(to: desk.stick("one"))
        shell("chmod 755 '\(desk.folder.path)'")
        try makeFolder(desk.archivePath)
        let run = shell(
            "setpriv --reuid=65534 --regid=65534 --clear-groups '\(try officeProgram())' gather '\(desk.stick("one"))' "
                + "--into '\(desk.archivePath)'")
        #expect(run.status == 1 && run.output.split(separator: "\n").count == 1, "\(run.output)")
        #expect(run.output.contains(desk.archivePath) && names(desk.archivePath) == [])
    }

    @Test("the number of copies and corrections on a stick may exceed the limit of open files")
    func many() throws {
        let desk = try OfficeDesk()
        let script = """
            mkdir -p '\(desk.stick("one"))/Fieldscribe/pi' && cd '\(desk.stick("one"))/Fieldscribe/pi' || exit
            for number in $(seq 1001 1150); do
                copy=00${number}_2026-11-20_09-30-12
                mkdir $copy && cd $copy || exit
                echo '{"file":"'$number'","duration":1,"sampleRate":16000,"segments":[],
                    "engine":{"name":"test","version":"1","model":"none"}}' >transcript.json
                sha256sum transcript.json >SHA256SUMS
                cd ..
                mkdir loose-$number && echo '{}' >loose-$number/corrections.json
            done
            ulimit -Sn 64
            '\(try officeProgram())' gather '\(desk.stick("one"))' --into '\(desk.archivePath)' 2>&1 | tail -n 1
            """
        try durableReplace(path: desk.folder.file("script"), with: script)
        let run = shell("bash '\(desk.folder.file("script"))'")
        #expect(run.output == "\(desk.archivePath): 150 copies added, 150 refused\n", "\(run.output)")
        #expect(desk.copies().count == 150)
    }

    @Test("an error on a stick whose path starts like the archive's path is not mistaken for an error in the archive")
    func similarPaths() async throws {
        let desk = try OfficeDesk()
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        for id in 1...2 { await recorder.record(id, "recording \(id)") }
        let stick = "\(desk.archivePath)-of-anna"
        try await recorder.copy(to: stick)
        shell("ln -sf /etc/passwd '\(recorder.copies(on: stick)[0])/transcript.json'")
        let report = try desk.gather(stick)
        #expect(report.taken == 1 && report.problems.count == 1, "\(report)")
    }

    @Test("a folder whose name is not UTF-8 is reported")
    func unreadableNames() async throws {
        let desk = try OfficeDesk()
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "we planted fonio")
        try await recorder.copy(to: desk.stick("one"))
        shell("cd '\(desk.stick("one"))' && cp -r Fieldscribe $(printf 'caf\\351') && mkdir 'a\u{FFFD}b'")
        let report = try desk.gather(desk.stick("one"))
        #expect(report.taken == 1 && report.problems.count == 1, "\(report)")
        #expect(report.problems.allSatisfy { $0.contains("caf\u{FFFD}: has a name that is not in UTF-8") }, "\(report)")
    }

    @Test("a sparse file larger than the disk is refused and named, and everything else is added")
    func holes() async throws {
        let desk = try OfficeDesk()
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        for id in 1...2 { await recorder.record(id, "recording \(id)") }
        try await recorder.copy(to: desk.stick("one"))
        shell("truncate -s 8T '\(recorder.copies(on: desk.stick("one"))[0])/audio.flac'")
        // If the file is not refused, ulimit keeps it from filling the disk.
        let run = shell(
            "ulimit -f 2000000; '\(try officeProgram())' gather '\(desk.stick("one"))' --into '\(desk.archivePath)' 2>&1"
        )
        #expect(run.output.contains("000001") && run.output.contains("audio.flac: is mostly holes"), "\(run)")
        #expect(run.status == 4 && desk.copies().count == 1)
    }
}

extension Annotations {
    init(people: String) {
        self.init()
        self.people = people
    }
}
