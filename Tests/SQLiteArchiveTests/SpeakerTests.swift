import Testing

@testable import Archive
@testable import Core

@Suite("Speakers in the archive") struct SpeakerTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let speakers = Speakers(turns: [turn(0, 50_000, 0), turn(100_000, 150_000, 1)])

    private func archive() throws -> SQLiteArchive { try SQLiteArchive(path: folder.path + "/archive.sqlite") }

    private func record(in archive: SQLiteArchive) async throws -> Int {
        let (id, pass) = try await archive.record(
            "one word and another word here", "two words and some others too")
        try await archive.endRecording(id, length: SamplePosition(150_000), reason: .button)
        try await archive.markTranscribed(upTo: SamplePosition(150_000), recording: id)
        try await archive.endPass(pass, recording: id)
        return id
    }

    @Test("are identified once the transcript is complete")
    func identifiedWhenComplete() async throws {
        let archive = try archive()
        let (unfinished, _) = try await archive.record("still being recorded")
        let id = try await record(in: archive)
        #expect(try await archive.withoutSpeakers().map(\.id) == [id])
        #expect(try await archive.transcript(of: id)?.1.speakers == nil)
        try await archive.keep(Speakers(turns: []), recording: id)
        #expect(try await archive.withoutSpeakers().isEmpty)
        #expect(try await archive.transcript(of: id)?.1.speakers == Speakers(turns: []))
        try await archive.keep(Self.speakers, recording: id)
        let timeline = try #require(try await archive.transcript(of: id)?.1)
        #expect(timeline.speakers == Self.speakers)
        #expect(timeline.segments.map { timeline.speaker(of: $0) } == [0, 1])
        #expect(try await archive.transcript(of: unfinished)?.1.speakers == nil)
        #expect(await failure { try await archive.keep(Self.speakers, recording: 99) }?.code == .missing)
    }

    @Test("can be searched with speaker:A, with or without words")
    func search() async throws {
        let archive = try archive()
        let id = try await record(in: archive)
        try await archive.keep(Self.speakers, recording: id)
        func matches(_ query: String) async throws -> [Int] {
            try await archive.search(query, limit: 10).map(\.segment)
        }
        #expect(try await matches("and") == [1, 2])
        #expect(try await matches("and speaker:A") == [1])
        #expect(try await matches("speaker:b and") == [2])
        #expect(try await matches("speaker:A") == [1])
        #expect(try await matches("speaker:C and") == [])
        #expect(try await matches("speaker:A two") == [])
        // No speaker has this name.
        #expect(try await matches("speaker:one") == [])
        for _ in 1...2 { _ = try await record(in: archive) }
        #expect(try await archive.search("speaker:A", limit: 2).count == 1)
    }

    @Test("limit a search by label or name: words of another speaker in the same segment do not match")
    func searchWords() async throws {
        let archive = try archive()
        let (id, pass) = try await archive.record("Wasser for the fields", "water, water more waterfalls")
        try await archive.endRecording(id, length: SamplePosition(150_000), reason: .button)
        try await archive.markTranscribed(upTo: SamplePosition(150_000), recording: id)
        try await archive.endPass(pass, recording: id)
        // Each word has 1,000 samples, which is less than a third of a second.
        try await archive.keep(
            Speakers(turns: [
                turn(0, 1_000, 0), turn(1_000, 10_000, 1), turn(100_000, 102_000, 1), turn(102_000, 110_000, 0),
            ]), recording: id)
        func matches(_ query: String) async throws -> [Int] {
            try await archive.search(query, limit: 10).map(\.segment).sorted()
        }
        #expect(try await matches("wasser speaker:A") == [1])
        #expect(try await matches("wasser speaker:B") == [])
        #expect(try await matches("fields speaker:A") == [])
        #expect(try await matches("the fie speaker:b") == [1])
        #expect(try await matches("wasser fields speaker:A") == [], "A said only one of the words")
        #expect(try await matches("water speaker:B") == [2])
        #expect(try await matches("water speaker:A") == [2], "A said a longer word that begins with water")
        #expect(try await matches("water more speaker:A") == [])
        #expect(try await matches("wässer speaker:A") == [1], "accents are ignored")
        #expect(try await matches("speaker:Anna") == [])
        var correction = Correction(person: "P", savedAt: 1, base: 1)
        correction.annotations.speakers = ["A": "Anna Rossi", "B": "Bo"]
        let segments = try #require(try await archive.transcript(of: id)?.1.segments)
        _ = try await archive.correct(segments, correction, recording: id)
        #expect(try await matches("speaker:anna wasser") == [1])
        #expect(try await matches("fields speaker:BO") == [1])
        #expect(try await matches("speaker:Anna_Rossi wasser") == [1])
        #expect(try await matches("speaker:rossi") == [1, 2])
        #expect(try await matches("speaker:Anna fields") == [])
        #expect(try await matches("speaker:Zoe") == [])
    }

    @Test("exclude redacted ranges, whether speakers are added before or after the redaction")
    func redacted() async throws {
        let archive = try archive()
        let id = try await record(in: archive)
        try await archive.keep(Self.speakers, recording: id)
        try await archive.add(
            Gap(SampleRange(SamplePosition(10_000), SamplePosition(120_000)), cause: .redacted), recording: id)
        try await archive.redact(recording: id)
        let remaining = [turn(0, 10_000, 0), turn(120_000, 150_000, 1)]
        #expect(try await archive.transcript(of: id)?.1.speakers?.turns == remaining)
        try await archive.keep(Self.speakers, recording: id)
        #expect(try await archive.transcript(of: id)?.1.speakers?.turns == remaining)
    }
}
