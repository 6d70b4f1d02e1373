import Glibc
import Testing
import TestKit

@testable import Audio
@testable import Copying
@testable import Core
@testable import Office
@testable import System

/// Recordings whose history and audio tags have different times.
@Suite("The start of a recording") struct StartTimeTests {
    /// 20 November 2026, 08:30:12 UTC.
    private static let start = 1_795_163_412.0

    init() { signal(SIGPIPE, SIG_IGN) }

    /// What is special about a copy; `silent` has no audio file.
    enum Form: CaseIterable { case plain, wave, sealed, renamed, silent }

    /// Gathers a recording whose history says that it ended at `endTime`. Returns the recording in the archive.
    private func gather(
        _ desk: OfficeDesk, _ form: Form, startedAt: Double, _ clock: RecordingSummary.Clock, endTime: String,
        endClock: String
    ) async throws -> OfficeRecording {
        var recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        var key: String?
        if form == .sealed {
            let file = desk.stick("key.txt")
            shell("age-keygen -o '\(file)'")
            let line = shell("age-keygen -y '\(file)'").output.split(separator: "\n").last.map(String.init) ?? ""
            recorder.recipients = [try #require(Recipient(line))]
            key = file
        }
        if form == .wave { recorder.audio = .wav }
        await recorder.record(1, "one", startedAt: startedAt, clock: clock)
        try await recorder.addEntry(1, "recorded", time: endTime, clock: endClock)
        try await recorder.copy(to: desk.stick("one"))
        if let copy = recorder.copies(on: desk.stick("one")).first {
            if form == .renamed { shell("mv '\(copy)' '\(copy)/../interview'") }
            if form == .silent { shell("cd '\(copy)' && rm audio.* && sed -i /audio/d SHA256SUMS") }
        }
        let report = try desk.gather(desk.stick("one"), key: key)
        #expect(report.taken == 1 && report.problems == [], "\(report)")
        return try #require(try desk.archive().recordings(OfficeFilter()).first)
    }

    @Test("a day must exist in the calendar", arguments: ["2026-02-28", "2024-02-29", "2000-02-29", "2026-04-30"])
    func days(text: String) {
        let next = text.dropLast(2) + "\((Int(text.suffix(2)) ?? 0) + 1)"
        #expect(seconds(ofDay: text, isEnd: true) != nil && seconds(ofDay: String(next), isEnd: false) == nil)
    }

    @Test(
        "a recording that a power cut interrupted has its own start, not the time of its repair",
        arguments: ArchiveKind.all,
        Form.allCases)
    func interrupted(kind: ArchiveKind, form: Form) async throws {
        let desk = try OfficeDesk(kind)
        let recording = try await gather(
            desk, form, startedAt: Self.start, .synchronized, endTime: "2026-12-24T10:00:00Z", endClock: "synchronized")
        #expect(recording.startedAt == Self.start && recording.clock == .synchronized)
        let listed = try desk.run("list --since 2026-11-20 --until 2026-11-20")
        #expect(listed.output.contains("2026-11-20 08:30 "), "\(listed)")
        #expect(try desk.run("list --since 2026-12-01").output == "")
    }

    @Test(
        "a recording that started before the clock was set has the start that was corrected later",
        arguments: ArchiveKind.all,
        Form.allCases)
    func corrected(kind: ArchiveKind, form: Form) async throws {
        let desk = try OfficeDesk(kind)
        let recording = try await gather(
            desk, form, startedAt: Self.start, .synchronized, endTime: "1970-01-01T00:02:00Z", endClock: "unverified")
        #expect(recording.startedAt == Self.start && recording.clock == .synchronized)
        let listed = try desk.run("list --since 2026-11-20T08:30 --until 2026-11-20T08:31")
        #expect(listed.output.contains("2026-11-20 08:30 "), "\(listed)")
    }

    @Test(
        "a recording whose start was not corrected is marked, even if the clock was set at its end",
        arguments: ArchiveKind.all, [Form.plain, .wave, .sealed, .renamed])
    func unverified(kind: ArchiveKind, form: Form) async throws {
        let desk = try OfficeDesk(kind)
        let recording = try await gather(
            desk, form, startedAt: 86_400, .unverified, endTime: "2026-12-24T10:00:00Z", endClock: "synchronized")
        #expect(recording.startedAt == 86_400 && recording.clock == .unverified)
        #expect(try desk.run("list").output.contains("1970-01-02 00:00?"))
    }

    @Test("in another time zone, the start comes from the audio tags, which have a time zone")
    func zones() async throws {
        let desk = try OfficeDesk()
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "one")
        try await recorder.copy(to: desk.stick("one"))
        let run = shell(
            "TZ=Asia/Kolkata '\(try officeProgram())' gather '\(desk.stick("one"))' --into '\(desk.archivePath)'")
        #expect(run.status == 0, "\(run)")
        #expect(try desk.archive().recordings(OfficeFilter()).map(\.startedAt) == [Self.start])
    }

    @Test("truncated tags are read as far as possible")
    func tags() throws {
        let folder = TemporaryFolder()
        for form in ["flac", "wav"] {
            let path = folder.file("a.\(form)")
            shell(
                "sox -n -r 16000 -b 16 -c 1 --comment '' --add-comment ARTIST=pi --add-comment DATE=2026-11-20T08:30:12Z '\(path)' synth 1"
            )
            let bytes = try content(ofFile: path)
            let tags = AudioTags(Array(bytes.prefix(AudioTags.headLength)))
            #expect(tags.device == (form == "flac" ? "pi" : tags.device) && tags.clock == .unverified)
            for count in 0...400 {
                let truncated = AudioTags(Array(bytes.prefix(count)))
                #expect(truncated.device == nil || truncated.device == tags.device)
                #expect(truncated.startedAt == nil || truncated.startedAt == Self.start)
            }
        }
    }
}
