import Glibc
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System
@testable import Transcripts

/// The commands with which an office user reviews, imports and exports transcripts.
@Suite("Office commands") struct OfficeCommandTests {
    init() { signal(SIGPIPE, SIG_IGN) }

    private func fill(_ desk: OfficeDesk) async throws {
        let first = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await first.record(1, "we talked of phone yo", "and then it rained", speakers: ["A", "B"], pass: 1)
        await first.record(2, "nothing else was said that day", pass: 1)
        try await first.copy(to: desk.stick("one"))
        let second = FieldRecorder("zero", identity: FieldRecorder.identity("b"))
        await second.record(1, "fonio is a grain", startedAt: 1_795_900_000, pass: 1)
        try await second.copy(to: desk.stick("two"))
        #expect(try desk.gather(desk.stick("one"), desk.stick("two")).problems == [])
    }

    /// Returns a recording's ID in the archive.
    private func archiveID(_ desk: OfficeDesk, _ recorder: String, _ recording: Int) throws -> Int {
        try #require(
            try desk.archive().recordings(OfficeFilter()).first {
                $0.recorder.name == recorder && $0.number == recording
            }
        ).id
    }

    @Test(
        "a recording with a date beyond the calendar is listed on the page",
        arguments: [1e300, 9e18, .infinity])
    func beyondCalendars(time: Double) throws {
        let folder = TemporaryFolder()
        let archive = try OfficeFolder(folder.file("archive"), creates: true)
        var copy = GatheredCopy(
            recorder: try archive.recorder(RecorderIdentity(name: "pi")), number: 1, root: "", startedAt: 0,
            clock: .synchronized, length: SamplePosition(seconds: 1), digest: "d", folder: "pi/000001",
            audioName: "audio.flac", isSigned: nil, sealedDigest: nil, transcripts: [], history: [], samplesDigest: "",
            redactionCount: 0)
        // Only a database that another program has modified can have such a time.
        copy.startedAt = time
        try archive.add([copy])
        #expect(try OfficePage.write(for: archive) == 1)
        let page = try content(ofFile: "\(archive.filesPath)/\(OfficePage.name)")
        #expect(String(decoding: page, as: UTF8.self).contains("9999-12-3"))
    }

    @Test(
        "a participant who is also a speaker is listed once",
        arguments: [
            ("Anna, Bo; Anna; Bo", "Anna, Bo"), ("Anna Maria; Anna", "Anna Maria; Anna"), ("Awa; awa; Bo", "Awa; Bo"),
            ("Anna (host); Anna", "Anna (host); Anna"), ("?; ?", "?; ?"), ("", ""),
        ])
    func distinct(people: String, expected: String) { #expect(distinctPeople(people) == expected) }

    @Test(
        "review lists uncertain words from all recordings, or from those that match the filter",
        arguments: ArchiveKind.all)
    func review(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        try await fill(desk)
        let all = try desk.run("review --limit 100")
        #expect(all.status == 0 && all.output.contains("[yo]") && all.output.contains("zero-bbbbbbbb"), "\(all)")
        #expect(all.output.contains("75 %"), "\(all)")
        let some = try desk.run("review --recorder zero --limit 2")
        #expect(some.output.split(separator: "\n").count == 2 && !some.output.contains("pi-aaaaaaaa"), "\(some)")
        let filtered = try desk.run("review --speaker b --limit 100")
        #expect(filtered.output.contains("[rained]") && !filtered.output.contains("[yo]"), "\(filtered)")
        #expect(try desk.run("review --json 1").output.contains("\"confidence\" : 0.75"))
        for (command, status) in [("review 99", 3), ("review x", 2), ("review --limit 0", 2)] as [(String, Int32)] {
            let run = try desk.run(command)
            #expect(run.status == status && run.errors.split(separator: "\n").count == 1, "\(run)")
        }
    }

    @Test("a transcript edited in another program is imported, and accuracy measures it", arguments: ArchiveKind.all)
    func imported(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        try await fill(desk)
        let id = try archiveID(desk, "pi", 1)
        #expect(try desk.run("accuracy").errors == "none of these recordings has corrections\n")
        let file = desk.folder.file("talk.srt")
        shell(
            "FIELDSCRIBE_ARCHIVE='\(desk.database ?? desk.archivePath)' '\(try officeProgram())' show \(id) --format srt > '\(file)'"
        )
        shell("sed -i 's/phone yo/fonio/' '\(file)'")
        let unidentified = try desk.run("import '\(file)'")
        #expect(
            unidentified.status == 1 && unidentified.errors.contains("specify it with --recording ID"),
            "\(unidentified)")
        // Somebody else names a speaker in the meantime; importing the file keeps the name.
        let page = desk.folder.file("corrections.json")
        let sound = try #require(try desk.archive().samplesDigest(of: id))
        try durableReplace(
            path: page,
            with: """
                {"format":"fieldscribe-corrections","version":1,"recording":{"id":1,"sound":"\(sound)","pass":1},
                "editor":{"name":"Bo","saved":1795200000},"segments":[],"speakers":{"A":"Anna"}}
                """)
        #expect(try desk.run("import '\(page)'").status == 0)
        let first = try desk.run("import '\(file)' --recording \(id) --by Awa")
        #expect(first.status == 0 && first.output == "\(file): recording \(id): added\n", "\(first)")
        let again = try desk.run("import '\(file)' --recording \(id) --by Awa")
        #expect(again.output.contains("nothing was changed"), "\(again)")
        #expect(try desk.found("fonio").count == 2 && desk.found("phone") == [])
        let transcripts = try desk.archive().transcripts(of: id)
        #expect(transcripts.map(\.person) == ["Awa", "Bo", nil])
        #expect(try desk.archive().timeline(ofTranscript: transcripts[0].id)?.annotations?.speakers == ["A": "Anna"])
        let accuracy = try desk.run("accuracy")
        #expect(
            accuracy.output.contains("\(id)  pi-aaaaaaaa  test  ") && accuracy.output.contains("test: "), "\(accuracy)")
        #expect(try desk.run("accuracy --json --recorder zero").output == "[\n\n]\n")
        for (name, text) in [("x.json", "{}"), ("x.srt", ""), ("x.doc", "what")] {
            try durableReplace(path: desk.folder.file(name), with: text)
            let run = try desk.run("import '\(desk.folder.file(name))' --recording \(id)")
            #expect(run.status != 0 && run.errors.split(separator: "\n").count == 1, "\(name): \(run)")
        }
        #expect(try desk.run("import /nowhere.srt").status == 3 && desk.run("import").status == 2)
        // With --recording, the file may have no words in common with the recording.
        let other = try desk.run("import '\(file)' --recording \(archiveID(desk, "zero", 1))")
        #expect(other.status == 0 && other.output.contains(": added; only "), "\(other)")
    }

    @Test("import adds a page's corrections, and keeps the file beside the copy", arguments: ArchiveKind.all)
    func page(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        try await fill(desk)
        let id = try archiveID(desk, "pi", 1)
        let copy = try #require(desk.copies().first { $0.contains("pi-aaaaaaaa/") && $0.contains("000001") })
        let sound = shell(
            "grep -o 'sound sha256:[0-9a-f]*' '\(desk.archivePath)/\(copy)/index.html' | head -n 1 | cut -d: -f2"
        )
        .output.prefix(64)
        let file = desk.folder.file("corrections.json")
        try durableReplace(
            path: file,
            with: """
                {"format":"fieldscribe-corrections","version":1,"recording":{"id":1,"sound":"\(sound)","pass":1},
                "editor":{"name":"Bo","saved":1795200000},"segments":[{"id":1,"was":"we talked of phone yo","text":"we talked of fonio"}]}
                """)
        let first = try desk.run("import '\(file)'")
        #expect(first.output == "\(file): recording \(id): added\n", "\(first)")
        #expect(names("\(desk.archivePath)/\(copy)").contains { $0.hasPrefix("corrections-") && $0.hasSuffix(".json") })
        let again = try desk.run("import '\(file)'")
        #expect(again.output.contains("already"), "\(again)")
        let mismatch = try desk.run("import '\(file)' --recording \(archiveID(desk, "pi", 2))")
        #expect(mismatch.status == 1 && mismatch.errors.contains("leave out --recording"), "\(mismatch)")
    }

    @Test("export writes transcripts, or complete copies that can be gathered", arguments: ArchiveKind.all)
    func export(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        try await fill(desk)
        let out = desk.folder.file("out")
        let run = try desk.run("export --to '\(out)' --recorder pi")
        #expect(run.status == 0 && run.output == "\(out): 2 copies written\n", "\(run)")
        let again = try desk.run("export --to '\(out)'")
        #expect(again.output == "\(out): 1 copy written, 2 already there\n", "\(again)")
        #expect(
            shell(
                "cd '\(out)/Fieldscribe' && for copy in */*/; do (cd $copy && sha256sum --quiet --strict -c SHA256SUMS) || echo bad; done"
            ).output == "")
        let other = try OfficeDesk()
        #expect(try other.gather(out).taken == 3 && other.copies() == desk.copies())
        let texts = try desk.run("export --to '\(out)' --format srt,text \(archiveID(desk, "pi", 1))")
        #expect(texts.output == "\(out): 2 transcripts written\n", "\(texts)")
        let text = shell("cat '\(out)'/pi-aaaaaaaa/*.txt").output
        #expect(text.contains("phone yo") && names("\(out)/pi-aaaaaaaa").count == 2, "\(text)")
        shell("echo mine > '\(out)/pi-aaaaaaaa/'*.txt")
        let differing = try desk.run("export --to '\(out)' --format text \(archiveID(desk, "pi", 1))")
        #expect(
            differing.status == 4 && differing.errors.contains("exists and differs; replace it with --force"),
            "\(differing)")
        #expect(shell("cat '\(out)'/pi-aaaaaaaa/*.txt").output == "mine\n")
        #expect(try desk.run("export --to '\(out)' --format text --force").status == 0)
        // Damages one of the archive's files.
        shell("printf x >> '\(desk.archivePath)/\(desk.copies()[0])/audio.flac'; rm -r '\(out)/Fieldscribe'")
        let damaged = try desk.run("export --to '\(out)'")
        #expect(damaged.status == 4 && damaged.errors.contains("audio.flac: does not match its checksum"), "\(damaged)")
        #expect(damaged.output == "\(out): 2 copies written, 1 refused\n", "\(damaged)")
        #expect(shell("find '\(out)' -name '.exporting*'").output == "")
        for command in [
            "export", "export --to x --format nonsense", "export --to x --force", "export --to '\(desk.archivePath)'",
        ] {
            let run = try desk.run(command)
            #expect(run.status != 0 && run.errors.split(separator: "\n").count == 1, "\(command): \(run)")
        }
    }
}
