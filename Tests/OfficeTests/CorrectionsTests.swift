import Glibc
import Testing
import TestKit

@testable import Copying
@testable import Core
@testable import Office
@testable import System

@Suite("Corrections on a stick") struct CorrectionsTests {
    private let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))

    /// Returns a page's corrections of the second segment of a recording.
    private func corrections(
        _ text: String, by person: String, at time: Int, recording: Int = 1, sound: String,
        was: String = "phone yo again"
    ) -> String {
        """
        {"format":"fieldscribe-corrections","version":1,"recording":{"id":\(recording),"sound":"\(sound)","pass":1},
        "editor":{"name":"\(person)","saved":\(time)},"segments":[{"id":2,"was":"\(was)","text":"\(text)"}]}
        """
    }

    /// Copies two recordings to a stick. Returns the folder of the first one's copy, and the digest of its samples.
    private func fillStick(_ desk: OfficeDesk) async throws -> (copy: String, sound: String) {
        await recorder.record(1, "we talked of", "phone yo again", pass: 1)
        await recorder.record(2, "of something else", "and more", pass: 1)
        try await recorder.copy(to: desk.stick("one"))
        let copy = recorder.copies(on: desk.stick("one"))[0]
        let sound = shell("grep -o 'sound sha256:[0-9a-f]*' '\(copy)/index.html' | head -n 1 | cut -d: -f2").output
            .prefix(64)
        #expect(sound.count == 64)
        return (copy, String(sound))
    }

    @Test(
        "two people's corrections are both kept; the latest is shown, and each is added once",
        arguments: ArchiveKind.all)
    func twoPeople(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        let (copy, sound) = try await fillStick(desk)
        try durableReplace(
            path: "\(copy)/corrections.json",
            with: corrections("fonio again", by: "Awa", at: 1_795_200_000, sound: sound))
        let report = try desk.gather(desk.stick("one"))
        #expect(report.taken == 2 && report.corrections == 1 && report.problems == [])
        #expect(try desk.found("fonio") == ["pi-aaaaaaaa: [fonio] again"] && desk.found("phone") == [])
        // Adds an earlier correction by another person, and Awa's correction again, as HTML.
        try durableReplace(
            path: "\(copy)/corrections (1).json",
            with: corrections("Foniyo again", by: "Bo", at: 1_795_100_000, sound: sound))
        let page =
            "<script type=\"application/json\" id=\"corrections\">"
            + corrections("fonio again", by: "Awa", at: 1_795_200_000, sound: sound) + "</script>"
        try durableReplace(path: "\(copy)/corrections.html", with: page)
        let again = try desk.gather(desk.stick("one"))
        #expect(again.taken == 0 && again.corrections == 1 && again.problems == [])
        #expect(try desk.found("fonio") == ["pi-aaaaaaaa: [fonio] again"])
        let transcripts = try desk.archive().transcripts(of: 1)
        #expect(transcripts.map(\.person) == ["Awa", "Bo", nil])
        let texts = try transcripts.map { try desk.archive().timeline(ofTranscript: $0.id)?.segments.last?.text }
        #expect(texts == ["fonio again", "Foniyo again", "phone yo again"])
        // Adds a later correction by the other person.
        try durableReplace(
            path: "\(copy)/corrections.json",
            with: corrections("fonyo again", by: "Bo", at: 1_795_300_000, sound: sound))
        try desk.gather(desk.stick("one"))
        #expect(try desk.found("fonyo").count == 1 && desk.found("fonio") == [])
        #expect(try desk.archive().transcripts(of: 1).count == 4)
        #expect(try desk.run("show 1 --readings").output.split(separator: "\n").count == 4)
        #expect(try desk.run("show 1 --reading 4").output.contains("phone yo again"))
    }

    @Test(
        "corrections that the recorder has applied to the copy beside them are recognized, and accuracy measures them",
        arguments: ArchiveKind.all, [false, true])
    func appliedCorrections(kind: ArchiveKind, wasGathered: Bool) async throws {
        let desk = try OfficeDesk(kind)
        let (copy, sound) = try await fillStick(desk)
        if wasGathered { try desk.gather(desk.stick("one")) }
        try durableReplace(
            path: "\(copy)/corrections.json",
            with: corrections("fonio again", by: "Awa", at: 1_795_200_000, sound: sound))
        try await recorder.correct(1, segment: 2, "fonio again", by: "Awa", pass: 2)
        try await recorder.copy(to: desk.stick("one"))
        for attempt in 1...2 {
            let run = try desk.run("gather '\(desk.stick("one"))' \(desk.into)")
            #expect(run.status == 0 && run.errors == "", "\(attempt): \(run)")
            #expect(!run.output.contains("correction"), "\(attempt): \(run.output)")
        }
        #expect(try desk.found("fonio") == ["pi-aaaaaaaa: [fonio] again"] && desk.found("phone") == [])
        #expect(try desk.archive().transcripts(of: 1).map(\.person) == ["Awa", nil])
        let accuracy = try desk.run("accuracy")
        #expect(accuracy.output.contains("% of the words are wrong"), "\(accuracy)")
        // A later correction is new.
        let later = corrections("fonyo again", by: "Awa", at: 1_995_200_000, sound: sound, was: "fonio again")
        try durableReplace(path: "\(copy)/corrections (1).json", with: later)
        #expect(try desk.gather(desk.stick("one")).corrections == 1)
        #expect(try desk.found("fonyo").count == 1)
    }

    @Test(
        "speaker changes that the recorder has already applied to the copy are recognized", arguments: ArchiveKind.all)
    func turns(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        let (copy, sound) = try await fillStick(desk)
        #expect(try desk.gather(desk.stick("one")).taken == 2)
        let turnsField = #""turns":[{"start":0,"end":1.9,"speaker":"A"},{"start":2.01,"end":2.2,"speaker":"B"}]"#
        let saved = corrections("fonio again", by: "Awa", at: 1_795_200_000, sound: sound)
            .replacing("\"version\":1", with: "\"version\":2,\(turnsField)")
        try durableReplace(path: "\(copy)/corrections.json", with: saved)
        try durableReplace(path: "\(copy)/corrections (1).json", with: saved)
        let turns = [(0, 0), (32_000, 1)].map { start, speaker in
            Speakers.Turn(SampleRange(SamplePosition(start), SamplePosition(start + 31_900)), speaker: speaker)
        }
        try await recorder.correct(1, segment: 2, "fonio again", by: "Awa", pass: 2, speakers: Speakers(turns: turns))
        try await recorder.copy(to: desk.stick("one"))
        let report = try desk.gather(desk.stick("one"))
        #expect(report.taken == 1 && report.corrections == 0 && report.problems == [])
        #expect(try desk.archive().transcripts(of: 1).map(\.person) == ["Awa", nil])
    }

    @Test(
        "if the engine's transcript is missing, accuracy reports that the corrected recording cannot be measured",
        arguments: ArchiveKind.all)
    func unmeasured(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        _ = try await fillStick(desk)
        try await recorder.correct(1, segment: 2, "fonio again", by: "Awa", pass: 2)
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        let accuracy = try desk.run("accuracy")
        #expect(
            accuracy.output == "" && accuracy.errors.hasPrefix("1 corrected recording cannot be measured"),
            "\(accuracy)")
    }

    @Test(
        "if a copy has only the latest of several corrections, the transcripts before it are restored",
        arguments: ArchiveKind.all)
    func repeatedCorrections(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        let (copy, sound) = try await fillStick(desk)
        let first = corrections("fonio again", by: "Awa", at: 1_795_200_000, sound: sound)
        let second = corrections("fonyo again", by: "Bo", at: 1_795_300_000, sound: sound, was: "fonio again")
            .replacing("\"pass\":1", with: "\"pass\":2")
        try durableReplace(path: "\(copy)/corrections.json", with: first)
        try durableReplace(path: "\(copy)/corrections (1).json", with: second)
        try await recorder.correct(1, segment: 2, "fonyo again", by: "Bo", pass: 3)
        let written = try await recorder.addEntry(1, "written", pass: 1, engine: "test 1")
        let corrected = try await recorder.addEntry(2, "corrected", before: written, pass: 2)
        try await recorder.addEntry(3, "corrected", time: "2026-11-20T09:30:16Z", before: corrected, pass: 3)
        try await recorder.copy(to: desk.stick("two"))
        shell("cp '\(copy)'/corrections* '\(recorder.copies(on: desk.stick("two"))[0])'")
        let report = try desk.gather(desk.stick("two"))
        #expect(report.taken == 2 && report.corrections == 0 && report.problems == [])
        #expect(try desk.found("fonyo").count == 1)
        #expect(try desk.archive().transcripts(of: 1).map(\.person) == ["Bo", "", nil])
        #expect(try desk.run("accuracy").output.contains("1  pi-aaaaaaaa  test  "))
    }

    @Test("a correction can be reverted on its page", arguments: ArchiveKind.all)
    func reverted(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        let (copy, sound) = try await fillStick(desk)
        try durableReplace(
            path: "\(copy)/corrections.json",
            with: corrections("fonio again", by: "Awa", at: 1_795_200_000, sound: sound))
        try desk.gather(desk.stick("one"))
        #expect(try desk.found("fonio").count == 1)
        try durableReplace(
            path: "\(copy)/corrections (1).json",
            with: """
                {"format":"fieldscribe-corrections","version":1,"recording":{"id":1,"sound":"\(sound)","pass":1},
                "editor":{"name":"Awa","saved":1795300000},"segments":[]}
                """)
        #expect(try desk.gather(desk.stick("one")).corrections == 1)
        #expect(try desk.found("fonio") == [] && desk.found("phone").count == 1)
        #expect(try desk.archive().transcripts(of: 1).map(\.person) == ["Awa", "Awa", nil])
    }

    @Test("gathering an archive into another one includes corrections", arguments: ArchiveKind.all)
    func gatheredFromArchive(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        let (copy, sound) = try await fillStick(desk)
        try durableReplace(
            path: "\(copy)/corrections.json",
            with: corrections("fonio again", by: "Awa", at: 1_795_200_000, sound: sound))
        try desk.gather(desk.stick("one"))
        let other = try OfficeDesk(kind)
        let report = try other.gather(desk.archivePath)
        #expect(report.corrections == 1 && report.problems == [])
        #expect(try other.found("fonio") == ["pi-aaaaaaaa: [fonio] again"])
    }

    @Test("corrections elsewhere on the stick are matched to their recording by its sound", arguments: ArchiveKind.all)
    func correctionsElsewhere(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        let (_, sound) = try await fillStick(desk)
        try makeFolder(desk.stick("one") + "/Downloads")
        let path = desk.stick("one") + "/Downloads/corrections (3).json"
        try durableReplace(path: path, with: corrections("fonio again", by: "Awa", at: 1_795_200_000, sound: sound))
        let report = try desk.gather(desk.stick("one"))
        #expect(report.corrections == 1 && report.problems == [])
        #expect(try desk.found("fonio").count == 1)
    }

    @Test(
        "corrections that do not match are refused and named, and everything else is added",
        arguments: ArchiveKind.all)
    func refused(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        let (copy, sound) = try await fillStick(desk)
        let broken = [
            ("corrections.json", "nonsense"),
            ("corrections-2.json", corrections("x", by: "", at: 0, sound: sound, was: "what nobody said")),
            ("corrections-3.json", corrections("x", by: "", at: 0, recording: 2, sound: sound)),
        ]
        for (name, text) in broken { try durableReplace(path: "\(copy)/\(name)", with: text) }
        let path = desk.stick("one") + "/corrections.json"
        try durableReplace(path: path, with: corrections("x", by: "", at: 0, sound: String(repeating: "0", count: 64)))
        let report = try desk.gather(desk.stick("one"))
        #expect(report.taken == 2 && report.corrections == 0)
        #expect(report.problems.count == 4 && report.problems.allSatisfy { !$0.contains("\n") }, "\(report.problems)")
        for (name, _) in broken { #expect(report.problems.contains { $0.hasPrefix("\(copy)/\(name): ") }) }
        #expect(try desk.archive().transcripts(of: 1).count == 1)
    }
}
