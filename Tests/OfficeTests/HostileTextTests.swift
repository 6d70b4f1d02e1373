import Glibc
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System
@testable import Transcripts

/// Malicious files that consume memory and time, and transcripts in which a person has rewritten every word.
@Suite("Hostile and rewritten transcripts") struct HostileTextTests {
    private let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
    private let desk: OfficeDesk

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        desk = try OfficeDesk()
    }

    /// Copies two recordings to a stick. Returns the folder of the first recording's copy.
    private func fillStick() async throws -> String {
        await recorder.record(1, "we planted fonio", pass: 1)
        await recorder.record(2, "and waited", pass: 1)
        try await recorder.copy(to: desk.stick("one"))
        return recorder.copies(on: desk.stick("one"))[0]
    }

    /// File contents of about 16 MB.
    private static let hostileContents: [String: String] = [
        "brackets": String(repeating: "[", count: 16_000_000), "marks": String(repeating: "\u{301}", count: 8_000_000),
        "nothing": String(repeating: "\0", count: 16_000_000),
        "ones": #"{"file":"1","duration":1,"sampleRate":16000,"segments":["# + String(repeating: "1,", count: 7_700_000)
            + "1]}",
    ]

    @Test(
        "a copy whose transcript would exhaust memory is refused in one line, and the other copy is added",
        arguments: hostileContents.keys.sorted())
    func gathered(kind: String) async throws {
        let copy = try await fillStick()
        try durableReplace(path: "\(copy)/transcript.json", with: Self.hostileContents[kind] ?? "")
        #expect(shell("cd '\(copy)' && sha256sum audio.* history.json index.html transcript.* >SHA256SUMS").status == 0)
        let report = try desk.gather(desk.stick("one"))
        #expect(report.taken == 1 && report.problems.count == 1, "\(report)")
        #expect(report.problems.first?.hasPrefix("\(copy)/transcript.json: ") == true, "\(report.problems)")
        #expect(report.problems.allSatisfy { !$0.contains("\n") && $0.utf8.count < 400 }, "\(report.problems)")
        #expect(try desk.archive().recordings(OfficeFilter()).map(\.number) == [2])
    }

    @Test(
        "import refuses a file that would exhaust memory, names it in one line, and changes nothing",
        arguments: hostileContents.keys.sorted())
    func imported(kind: String) async throws {
        _ = try await fillStick()
        try desk.gather(desk.stick("one"))
        let id = try #require(desk.archive().recordings(OfficeFilter()).first { $0.number == 1 }?.id)
        for name in ["corrections.json", "corrections.html", "a.txt", "a.srt", "a.eaf"] {
            let path = desk.folder.file(name)
            try durableReplace(path: path, with: Self.hostileContents[kind] ?? "")
            let run = try desk.run("import '\(path)' --recording \(id)")
            #expect(run.status != 0 && run.errors.split(separator: "\n").count == 1, "\(run)")
            #expect(run.errors.hasPrefix("fieldscribe-office: \(path)") && run.errors.utf8.count < 400, "\(run)")
        }
        #expect(try desk.archive().transcripts(of: id).count == 1)
    }

    @Test("a hundred thousand other files on a stick do not hide a copy")
    func crowded() async throws {
        _ = try await fillStick()
        let created = shell(
            "cd '\(desk.stick("one"))' && seq 1 100000 | xargs touch && cd Fieldscribe/pi && seq 1 1000 | xargs mkdir")
        #expect(created.status == 0, "\(created)")
        let report = try desk.gather(desk.stick("one"))
        #expect(report.taken == 2 && report.problems == [], "\(report)")
    }

    /// Returns subtitles with the checksum of the recording's samples.
    private func subtitles(_ id: Int, _ number: Int, _ text: String) throws -> String {
        let sound = try #require(try desk.archive().samplesDigest(of: id))
        return "WEBVTT\n\nNOTE recording \(number), pass 1, sound sha256:\(sound)\n\n"
            + "00:00:00.500 --> 00:00:03.500\n\(text)\n"
    }

    @Test("a transcript with the recording's checksum is imported, even if every word is new")
    func rewritten() async throws {
        await recorder.record(3, pass: 1)
        _ = try await fillStick()
        try desk.gather(desk.stick("one"))
        let recordings = try desk.archive().recordings(OfficeFilter())
        for number in [1, 3] {
            let id = try #require(recordings.first { $0.number == number }?.id)
            let path = desk.folder.file("\(number).vtt")
            try durableReplace(path: path, with: subtitles(id, number, "nothing of that was said \(number)"))
            let run = try desk.run("import '\(path)' --by Awa")
            #expect(run.status == 0 && run.output.hasPrefix("\(path): recording \(id): added"), "\(run)")
            #expect(number == 3 || run.output.contains("; only 0 of its"), "\(run)")
            let shown = try #require(try desk.archive().shownTimeline(of: id))
            // Segments without words are left over from a line that has moved.
            let lines = shown.segments.map(\.text).filter { !$0.isEmpty }
            #expect(lines == ["nothing of that was said \(number)"], "\(shown.segments)")
            if number == 3 {
                let range = SampleRange(SamplePosition(seconds: 0.5), SamplePosition(seconds: 3.5))
                #expect(shown.segments.map(\.range) == [range])
            }
            let again = try desk.run("import '\(path)' --by Awa")
            #expect(again.status == 0 && again.output.contains("nothing was changed"), "\(again)")
        }
    }

    @Test("the overview page replaces only a regular file", arguments: ["ln -s", "mkfifo", "mkdir"])
    func foreignPage(command: String) async throws {
        _ = try await fillStick()
        try desk.gather(desk.stick("one"))
        let (page, otherFile) = ("\(desk.archivePath)/index.html", desk.folder.file("theirs"))
        try durableReplace(path: otherFile, with: "theirs")
        #expect(shell("\(command == "ln -s" ? "ln -s '\(otherFile)'" : command) '\(page)'").status == 0)
        let before = FileStatus(page)
        let run = try desk.run("gather --page \(desk.into)")
        #expect(run.status != 0 && run.errors.split(separator: "\n").count == 1, "\(run)")
        #expect(run.errors.contains("was not changed") && FileStatus(page) == before, "\(run)")
        #expect(shell("cat '\(otherFile)'").output == "theirs")
    }
}
