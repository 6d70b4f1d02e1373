import Dispatch
import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Core

@Suite("Reading while recording")
struct ReadingTests {
    let folder: TemporaryFolder
    let archive: SQLiteArchive

    init() throws {
        folder = try TemporaryFolder()
        archive = try SQLiteArchive(path: folder.archive)
    }

    /// A running read that continues until it is stopped.
    private func begun(
        _ end: DispatchSemaphore, beside archive: SQLiteArchive
    ) async -> Task<Int, any Error> {
        let (began, tell) = AsyncStream<Void>.makeStream()
        let reading = Task {
            try await archive.readers.read { queries in
                tell.yield()
                tell.finish()
                end.wait()
                return try queries.recordings().count
            }
        }
        for await _ in began {}
        return reading
    }

    @Test("a recording begins, grows and ends during a read, which sees the earlier state")
    func beside() async throws {
        try await archive.record("before")
        let end = DispatchSemaphore(value: 0)
        let reading = await begun(end, beside: archive)
        let (recording, _) = try await archive.record("while it is read")
        try await archive.endRecording(recording, length: SamplePosition(8_000), reason: .button)
        // Another read does not wait for the first.
        #expect(try await archive.search("while", limit: 1).count == 1)
        end.signal()
        #expect(try await reading.value == 1)
        #expect(try await archive.recordings().count == 2)
    }

    @Test("a read ends with its task, even a long one")
    func cancelled() async throws {
        try await archive.record("one")
        let (began, tell) = AsyncStream<Void>.makeStream()
        let archive = archive
        let reading = Task {
            try await archive.readers.read { queries in
                tell.yield()
                tell.finish()
                let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
                return try queries.connection.rows(endless) { $0.integer(0) }
            }
        }
        for await _ in began {}
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        #expect(try await archive.search("one", limit: 1).count == 1)
    }

    @Test("a read that waits for the end of a pause ends with its task")
    func cancelledWhileWaiting() async throws {
        try await archive.record("one")
        let archive = archive
        try await archive.readers.pausing {
            let reading = Task { try await archive.readers.read { try $0.recordings().count } }
            // wait: usually long enough for the read to wait; if it has not begun, it ends as well.
            try await Task.sleep(for: .milliseconds(50))
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
        }
        #expect(try await archive.search("one", limit: 1).count == 1)
    }

    @Test("an erasure interrupts a read, which then starts again")
    func erased() async throws {
        let (first, _) = try await archive.record("the secret")
        try await archive.record("the rest")
        let (began, tell) = AsyncStream<Void>.makeStream()
        let archive = archive
        let reading = Task {
            try await archive.readers.read { queries in
                tell.yield()
                // First on the old archive, endlessly; then on the remaining rows.
                let count = try queries.recordings().count
                let most = count > 1 ? Int.max : 1
                let slow =
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT \(most)) SELECT count(*) FROM n"
                _ = try queries.connection.rows(slow) { $0.integer(0) }
                return count
            }
        }
        for await _ in began { break }
        try await archive.delete(recordings: [first])
        #expect(try await reading.value == 1)
        var status = stat()
        #expect(stat(folder.archive + "-wal", &status) == 0 && status.st_size == 0)
    }

    // A separate function, so that its resources are freed when it returns.
    private func recordAndRead(_ path: String) async throws {
        let archive = try SQLiteArchive(path: path)
        try await archive.record("read")
        async let one = archive.search("read", limit: 1)
        async let other = archive.recordings()
        #expect(try await one.count == 1)
        #expect(try await other.count == 1)
    }

    private func isThere(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0
    }

    @Test("after reads, an archive is closed with its last owner, and its log is applied")
    func closed() async throws {
        for turn in 0..<20 {
            let path = "\(folder.path)/closed-\(turn).sqlite"
            try await recordAndRead(path)
            // The last reader may still be releasing it.
            try await eventually("the log is applied") { !isThere(path + "-wal") }
            _ = try SQLiteArchive(path: path)
        }
    }

    @Test("recording continues between the steps of an erasure, and nothing is added to an erased recording")
    func between() async throws {
        let (long, pass) = try await archive.record()
        let segments = (1...2_000).map { segment($0, at: Int64($0) * 10_000, "word number \($0)") }
        try await archive.commit(segments, adaptation: nil, pass: pass, recording: long)
        let archive = archive
        let erasure = Task { try await archive.delete(recordings: [long]) }
        var entered = 0
        while await !archive.erasing.isEmpty || entered == 0 {
            _ = try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "m")
            entered += 1
            let error = await failure {
                try await archive.commit(
                    [segment(2_001, at: 30_000_000, "late")], adaptation: nil, pass: pass, recording: long)
            }
            #expect(error != nil || entered == 1)
        }
        try await erasure.value
        #expect(try await archive.search("word", limit: 1).isEmpty)
        #expect(try await archive.search("late", limit: 1).isEmpty)
        #expect(try await archive.recordings().count == entered)
    }

    @Test("readers cannot write")
    func readOnly() async throws {
        let error = await failure {
            try await archive.readers.read { try $0.connection.execute("DELETE FROM recording") }
        }
        #expect(error?.code == .denied)
    }

    @Test("a very common word finds its newest matches; with a rarer word, the best ones")
    func common() async throws {
        let recording = try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "file:talk.wav")
        let old = try await archive.beginPass(recording: recording, engine: engine, profile: "live")
        let count = ArchiveQueries.maxCompared + 100
        for pass in [old, try await archive.beginPass(recording: recording, engine: engine, profile: "final")] {
            let segments = (1...count).map { number in
                segment(number, at: Int64(number) * 10_000, number == 7 ? "the needle in the hay" : "the hay")
            }
            try await archive.commit(segments, adaptation: nil, pass: pass, recording: recording)
        }
        // Only the later of the two passes is the default.
        let hits = try await archive.search("the", limit: 3)
        #expect(hits.map(\.segment) == [count, count - 1, count - 2])
        #expect(hits.allSatisfy { $0.excerpt == "[the] hay" })
        #expect(try await archive.search("the need", limit: 3).map(\.segment) == [7])
        #expect(try await archive.search("the hay", limit: 10_000).count == count)
    }

    @Test("changes since a connection last read the full-text index are not reported as damage")
    func changedIndex() async throws {
        let (first, _) = try await archive.record("lost and found")
        try await archive.check()
        try await archive.record("found again")
        #expect(try await archive.search("found", limit: 3).count == 2)
        try await archive.check()
        // The index segments that the reader has cached are merged into others.
        try await archive.delete(recordings: [first])
        try await archive.check()
        #expect(try await archive.search("found", limit: 3).count == 1)
    }

    @Test("a read-only check reports a damaged index, and the next repair rebuilds it")
    func damagedIndex() async throws {
        try await archive.record("lost and found")
        try await archive.check()
        try await archive.execute("DELETE FROM segment_text_data WHERE id > 10")
        let error = await failure { try await archive.check() }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("fieldscribe recover") == true)
    }
}
