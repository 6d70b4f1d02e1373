import FoundationEssentials
import Testing

@testable import Archive
@testable import Core

@Suite("Round trips")
struct RoundTripTests {
    let folder: TemporaryFolder
    let archive: SQLiteArchive

    init() throws {
        folder = try TemporaryFolder()
        archive = try SQLiteArchive(path: folder.archive)
    }

    @Test("a recording is read back unchanged, even after closing the file")
    func readBack() async throws {
        let path = folder.path + "/deep/er/archive.sqlite"
        let words = [
            Word("quote'\"", SampleRange(SamplePosition(3), SamplePosition(5)), confidence: 0.123_456_789),
            Word("nul\0 \u{202E}👩‍🚀", SampleRange(SamplePosition(5), SamplePosition(1 << 40)), confidence: 1),
        ]
        let first = Segment(
            id: 4, range: SampleRange(SamplePosition(2), SamplePosition(1 << 40)), words: words,
            alternatives: [Alternative(text: "quote", confidence: 0.25), Alternative(text: "", confidence: 0)],
            endedBy: .rotation,
            voice: VoiceAnalytics(pitch: 118.5, jitter: 0.02, shimmer: 0.125, voicing: 0.5, finalLowering: 3.5))
        let second = Segment(
            id: 7, range: SampleRange(SamplePosition(1 << 40), SamplePosition(1 << 41)), words: [], endedBy: .error)
        let gap = Gap(SampleRange(SamplePosition(9), SamplePosition(10)), cause: .microphone)
        let marks = [
            Bookmark(SamplePosition(8), text: "line\none"), Bookmark(SamplePosition(8)), Bookmark(SamplePosition(70)),
        ]
        func write() async throws {
            let archive = try SQLiteArchive(path: path)
            let id = try await archive.beginRecording(startedAt: 1.5, clock: .synchronized, microphone: "alsa:hw:0")
            let pass = try await archive.beginPass(recording: id, engine: engine, profile: "live")
            try await archive.commit(first, pass: pass, recording: id)
            try await archive.commit(second, pass: pass, recording: id)
            try await archive.add(gap, recording: id)
            for mark in marks.reversed() { try await archive.add(mark, recording: id) }
            try await archive.endRecording(id, length: SamplePosition(1 << 42), reason: .button)
        }
        try await write()

        let reopened = try SQLiteArchive(path: path)
        let (summary, timeline) = try #require(try await reopened.transcript(of: 1))
        #expect(
            summary
                == RecordingSummary(
                    id: 1, startedAt: 1.5, clock: .synchronized, microphone: "alsa:hw:0",
                    length: SamplePosition(1 << 42), transcribedUpTo: SamplePosition(1 << 41), stopReason: .button))
        #expect(try await reopened.recordings() == [summary])
        #expect(timeline.name == "000001")
        #expect(timeline.length == summary.length)
        #expect(timeline.engine == engine)
        #expect(timeline.segments == [first, second])
        #expect(timeline.gaps == [gap])
        #expect(timeline.marks == [marks[1], marks[0], marks[2]])
        #expect(timeline.statistics == nil)
    }

    @Test("a recording without a pass has an empty transcript; an unknown recording has none")
    func emptyTranscripts() async throws {
        let id = try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "tone:440")
        let (summary, timeline) = try #require(try await archive.transcript(of: id))
        #expect(summary.stopReason == .cutShort)
        #expect(timeline.segments.isEmpty)
        #expect(try await archive.transcript(of: id + 1) == nil)
    }

    @Test("the transcript comes from the latest pass with text")
    func bestPass() async throws {
        let (recording, _) = try await archive.record("first reading")
        let later = EngineDescription(name: "later", version: "2", model: "big")
        let second = try await archive.beginPass(recording: recording, engine: later, profile: "final")
        #expect(try await archive.transcript(of: recording)?.1.engine == engine)
        try await archive.commit(segment(1, at: 0, "second reading"), pass: second, recording: recording)
        let (_, timeline) = try #require(try await archive.transcript(of: recording))
        #expect(timeline.engine == later)
        #expect(timeline.segments.map(\.text) == ["second reading"])
        #expect(try await archive.search("reading", limit: 10).map(\.text) == ["second reading"])
    }

    @Test("an ended recording is complete even without the write-ahead log")
    func endedWithoutLog() async throws {
        let path = folder.path + "/ended.sqlite"
        let archive = try SQLiteArchive(path: path)
        let (recording, _) = try await archive.record("in the file")
        try await archive.endRecording(recording, length: SamplePosition(16_000), reason: .button)
        let copy = folder.path + "/copy.sqlite"
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        let (summary, timeline) = try #require(try await SQLiteArchive(path: copy).transcript(of: recording))
        #expect(summary.stopReason == .button)
        #expect(timeline.segments.map(\.text) == ["in the file"])
    }

    @Test("committed text is never discarded")
    func keepsCommitted() async throws {
        let (recording, _) = try await archive.record("kept")
        let empty = try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "none")
        try await archive.discard(recording: recording)
        try await archive.discard(recording: empty)
        #expect(try await archive.recordings().map(\.id) == [recording])
        #expect(try await archive.transcript(of: recording)?.1.segments.map(\.text) == ["kept"])
    }

    @Test("the transcribed position never decreases")
    func transcribedNeverDecreases() async throws {
        let (recording, pass) = try await archive.record()
        try await archive.markTranscribed(upTo: SamplePosition(50_000), recording: recording)
        try await archive.markTranscribed(upTo: SamplePosition(20_000), recording: recording)
        #expect(try await archive.recordings().map(\.transcribedUpTo.samples) == [50_000])
        try await archive.commit(segment(1, at: 0, "short"), pass: pass, recording: recording)
        #expect(try await archive.recordings().map(\.transcribedUpTo.samples) == [50_000])
        try await archive.commit(segment(2, at: 60_000, "short"), pass: pass, recording: recording)
        #expect(try await archive.recordings().map(\.transcribedUpTo.samples) == [61_000])
    }

    @Test("adding the same gap or bookmark twice stores it once")
    func addedTwice() async throws {
        let (recording, _) = try await archive.record()
        let gap = Gap(SampleRange(SamplePosition(1), SamplePosition(2)), cause: .outage)
        for _ in 1...2 {
            try await archive.add(gap, recording: recording)
            try await archive.add(Bookmark(SamplePosition(3), text: "here"), recording: recording)
        }
        let (_, timeline) = try #require(try await archive.transcript(of: recording))
        #expect(timeline.gaps == [gap])
        #expect(timeline.marks == [Bookmark(SamplePosition(3), text: "here")])
    }

    @Test("a NaN confidence does not lose the segment")
    func notANumber() async throws {
        let (recording, pass) = try await archive.record()
        var segment = segment(1, at: 0, "hello")
        segment.words[0].confidence = .nan
        try await archive.commit(segment, pass: pass, recording: recording)
        let (_, timeline) = try #require(try await archive.transcript(of: recording))
        #expect(timeline.segments.first?.words.map(\.confidence) == [0])
    }

    @Test("the flag for estimated times is stored, and can be restored from the journal alone")
    func estimatedTimes() async throws {
        let (recording, pass) = try await archive.record()
        var original = segment(1, at: 0, "hello world")
        original.words[1].hasEstimatedTime = true
        try await archive.commit(original, pass: pass, recording: recording)
        let (_, timeline) = try #require(try await archive.transcript(of: recording))
        #expect(timeline.segments == [original])
        let entries = try await archive.journalEntries(of: recording)
        #expect(JournalRecord(entries).passes.map(\.orderedSegments) == [[original]])
        let json = try JSONEncoder().encode(segment(1, at: 0, "hello").words)
        #expect(!String(decoding: json, as: UTF8.self).contains("isSpread"))
    }

    @Test("held-back text is stored, and can be restored from the journal alone")
    func withheldText() async throws {
        let (recording, pass) = try await archive.record()
        var original = segment(1, at: 0, "")
        original.words = []
        original.alternatives = [Alternative(text: "lobster a la newberg", confidence: 0)]
        try await archive.commit(original, pass: pass, recording: recording)
        let (_, timeline) = try #require(try await archive.transcript(of: recording))
        #expect(timeline.segments == [original] && timeline.segments[0].heldBack == "lobster a la newberg")
        let entries = try await archive.journalEntries(of: recording)
        #expect(JournalRecord(entries).passes.map(\.orderedSegments) == [[original]])
        #expect(try await archive.search("lobster", limit: 10).isEmpty)
    }

    @Test("2,000 segments stay in order, each with its own words")
    func manySegments() async throws {
        let (recording, pass) = try await archive.record()
        let original = (1...2_000).map { segment($0, at: Int64($0) * 5_000, "number \($0)") }
        for segment in original { try await archive.commit(segment, pass: pass, recording: recording) }
        let (summary, timeline) = try #require(try await archive.transcript(of: recording))
        #expect(timeline.segments == original)
        #expect(summary.transcribedUpTo == original.last?.range.end)
        #expect(try await archive.search("1999", limit: 10).map(\.segment) == [1_999])
    }

    @Test("everything that concurrent callers committed can be read")
    func concurrentCallers() async throws {
        let archive = archive
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...20 {
                group.addTask {
                    let id = try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "none")
                    let pass = try await archive.beginPass(recording: id, engine: engine, profile: "live")
                    for number in 1...10 {
                        try await archive.commit(
                            segment(number, at: Int64(number) * 10_000, "of \(id)"), pass: pass, recording: id)
                        _ = try await archive.search("of", limit: 3)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await archive.recordings().map(\.id) == Array(1...20))
        for id in 1...20 {
            let (_, timeline) = try #require(try await archive.transcript(of: id))
            #expect(timeline.segments.map(\.id) == Array(1...10))
            #expect(timeline.segments.allSatisfy { $0.text == "of \(id)" })
        }
    }
}
