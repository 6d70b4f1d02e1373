import Testing

@testable import Archive
@testable import Core

@Suite("Changes that the archive refuses")
struct RefusalTests {
    let folder: TemporaryFolder
    let archive: SQLiteArchive

    init() throws {
        folder = try TemporaryFolder()
        archive = try SQLiteArchive(path: folder.archive)
    }

    @Test(
        "a segment that overlaps or precedes the last one is refused completely",
        arguments: [
            segment(3, at: 101_999, "overlaps"), segment(3, at: 50_000, "between"), segment(2, at: 200_000, "again"),
            segment(1, at: 200_000, "before"),
        ])
    func outOfOrder(refused: Segment) async throws {
        let (recording, pass) = try await archive.record("one one", "two two")
        let before = try #require(try await archive.transcript(of: recording))
        let error = await failure { try await archive.commit(refused, pass: pass, recording: recording) }
        #expect(error?.code == .failed)
        #expect(error?.message.contains("overlaps or precedes") == true)
        let after = try #require(try await archive.transcript(of: recording))
        #expect(after.0 == before.0)
        #expect(after.1.segments == before.1.segments)
        // A later segment is accepted, even if it is adjacent.
        try await archive.commit(segment(9, at: 102_000, "three"), pass: pass, recording: recording)
    }

    @Test("another pass of the recording may cover the same time")
    func separatePasses() async throws {
        let (recording, _) = try await archive.record("one one")
        let finalPass = try await archive.beginPass(recording: recording, engine: engine, profile: "final")
        try await archive.commit(segment(1, at: 0, "won won"), pass: finalPass, recording: recording)
        #expect(try await archive.transcript(of: recording)?.1.segments.map(\.text) == ["won won"])
    }

    @Test(
        "a committed segment, its words and its alternatives never change",
        arguments: [
            "UPDATE segment SET text = 'other'", "UPDATE segment SET end_sample = 9", "UPDATE word SET text = 'other'",
            "UPDATE alternative SET confidence = 1", "REPLACE INTO segment SELECT * FROM segment",
            "INSERT INTO segment SELECT * FROM segment WHERE true ON CONFLICT DO UPDATE SET text = 'other'",
        ])
    func immutable(sql: String) async throws {
        let (recording, pass) = try await archive.record()
        var committed = segment(1, at: 0, "as it is")
        committed.alternatives = [Alternative(text: "as it was", confidence: 0.5)]
        try await archive.commit(committed, pass: pass, recording: recording)
        await #expect(throws: DeviceError.self) { try await archive.execute(sql) }
        #expect(try await archive.transcript(of: recording)?.1.segments == [committed])
    }

    @Test("deleting a recording deletes its text and index entries, and its number is not reused")
    func deletion() async throws {
        try await archive.record("stays")
        let (recording, _) = try await archive.record("goes away")
        try await archive.add(Bookmark(.zero), recording: recording)
        try await archive.execute("DELETE FROM recording WHERE id = \(recording)")
        #expect(try await archive.transcript(of: recording) == nil)
        #expect(try await archive.search("goes", limit: 10).isEmpty)
        #expect(try await archive.search("stays", limit: 10).count == 1)
        try await archive.execute("INSERT INTO segment_text (segment_text) VALUES ('integrity-check')")
        #expect(try await archive.count("SELECT count(*) FROM word") == 1)
        #expect(try await archive.count("SELECT count(*) FROM mark") == 0)
        #expect(try await archive.record().recording == recording + 1)
    }

    @Test("calls for an unknown recording or pass are refused")
    func unknownRecording() async throws {
        let (recording, pass) = try await archive.record("here")
        let (otherRecording, _) = try await archive.record()
        let gap = Gap(SampleRange(.zero, SamplePosition(1)), cause: .disk)
        let calls: [@Sendable (SQLiteArchive) async throws -> Void] = [
            { try await $0.endRecording(99, length: .zero, reason: .button) },
            { try await $0.markTranscribed(upTo: .zero, recording: 99) },
            { _ = try await $0.beginPass(recording: 99, engine: engine, profile: "live") },
            { try await $0.add(gap, recording: 99) },
            { try await $0.add(Bookmark(.zero), recording: 99) },
            { try await $0.commit(segment(5, at: 900_000, "lost"), pass: pass, recording: 99) },
            { try await $0.commit(segment(5, at: 900_000, "lost"), pass: 99, recording: recording) },
            { try await $0.commit(segment(5, at: 900_000, "lost"), pass: pass, recording: otherRecording) },
        ]
        for (index, call) in calls.enumerated() {
            #expect(await failure { try await call(archive) }?.code == .missing, "call \(index)")
        }
        #expect(try await archive.search("lost", limit: 10).isEmpty)
    }
}

extension SQLiteArchive {
    func execute(_ sql: String) throws { try connection.execute(sql) }

    func count(_ sql: String) throws -> Int { try connection.rows(sql) { $0.integer(0) }.first ?? -1 }
}
