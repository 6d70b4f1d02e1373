import Dispatch
import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Core

@Suite("Reading while recording")
struct ConcurrentReadTests {
    let folder: TemporaryFolder
    let archive: SQLiteArchive

    init() throws {
        folder = try TemporaryFolder()
        archive = try SQLiteArchive(path: folder.archive)
    }

    /// Starts a read that continues until `finish` is signalled.
    private func startRead(
        until finish: DispatchSemaphore, in archive: SQLiteArchive
    ) async -> Task<Int, any Error> {
        let (started, signal) = AsyncStream<Void>.makeStream()
        let readTask = Task {
            try await archive.readers.read { queries in
                signal.yield()
                signal.finish()
                finish.wait()
                return try queries.recordings().count
            }
        }
        for await _ in started {}
        return readTask
    }

    @Test("a recording can begin, grow and end during a read, which sees the archive as it was when the read began")
    func concurrent() async throws {
        try await archive.record("before")
        let finish = DispatchSemaphore(value: 0)
        let readTask = await startRead(until: finish, in: archive)
        let (recording, _) = try await archive.record("while it is read")
        try await archive.endRecording(recording, length: SamplePosition(8_000), reason: .button)
        // Another read does not wait for the first.
        #expect(try await archive.search("while", limit: 1).count == 1)
        finish.signal()
        #expect(try await readTask.value == 1)
        #expect(try await archive.recordings().count == 2)
    }

    @Test("a read stops when its task is cancelled, even if it would be endless")
    func cancelled() async throws {
        try await archive.record("one")
        let (started, signal) = AsyncStream<Void>.makeStream()
        let archive = archive
        let readTask = Task {
            try await archive.readers.read { queries in
                signal.yield()
                signal.finish()
                let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
                return try queries.connection.rows(endless) { $0.integer(0) }
            }
        }
        for await _ in started {}
        readTask.cancel()
        await #expect(throws: CancellationError.self) { try await readTask.value }
        #expect(try await archive.search("one", limit: 1).count == 1)
    }

    @Test("a read that waits for the end of a pause stops when its task is cancelled")
    func cancelledWhileWaiting() async throws {
        try await archive.record("one")
        let archive = archive
        try await archive.readers.pausing {
            let readTask = Task { try await archive.readers.read { try $0.recordings().count } }
            // wait: usually long enough for the read to start waiting; if it has not started, it is cancelled as well.
            try await Task.sleep(for: .milliseconds(50))
            readTask.cancel()
            await #expect(throws: CancellationError.self) { try await readTask.value }
        }
        #expect(try await archive.search("one", limit: 1).count == 1)
    }

    @Test("an erasure interrupts a read, which then starts again")
    func erasureRestartsRead() async throws {
        let (first, _) = try await archive.record("the secret")
        try await archive.record("the rest")
        let (started, signal) = AsyncStream<Void>.makeStream()
        let archive = archive
        let readTask = Task {
            try await archive.readers.read { queries in
                signal.yield()
                // The first attempt, with the old rows, is endless; the second, with the remaining rows, is not.
                let count = try queries.recordings().count
                let limit = count > 1 ? Int.max : 1
                let slowQuery =
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT \(limit)) SELECT count(*) "
                    + "FROM n"
                _ = try queries.connection.rows(slowQuery) { $0.integer(0) }
                return count
            }
        }
        for await _ in started { break }
        try await archive.delete(recordings: [first])
        #expect(try await readTask.value == 1)
        var status = stat()
        #expect(stat(folder.archive + "-wal", &status) == 0 && status.st_size == 0)
    }

    // A separate function, so that the archive is released when it returns.
    private func recordAndRead(_ path: String) async throws {
        let archive = try SQLiteArchive(path: path)
        try await archive.record("read")
        async let hits = archive.search("read", limit: 1)
        async let recordings = archive.recordings()
        #expect(try await hits.count == 1)
        #expect(try await recordings.count == 1)
    }

    private func fileExists(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0
    }

    @Test("after reads, an archive is closed when it is released, and its log is applied")
    func closedOnRelease() async throws {
        for index in 0..<20 {
            let path = "\(folder.path)/closed-\(index).sqlite"
            try await recordAndRead(path)
            // The last reader may still be releasing the archive.
            try await eventually("the log is applied") { !fileExists(path + "-wal") }
            _ = try SQLiteArchive(path: path)
        }
    }

    @Test("recording continues between the steps of an erasure, and nothing is added to an erased recording")
    func recordingDuringErasure() async throws {
        let (longRecording, pass) = try await archive.record()
        let segments = (1...2_000).map { segment($0, at: Int64($0) * 10_000, "word number \($0)") }
        try await archive.commit(segments, adaptation: nil, pass: pass, recording: longRecording)
        let archive = archive
        let erasure = Task { try await archive.delete(recordings: [longRecording]) }
        var count = 0
        while await !archive.erasing.isEmpty || count == 0 {
            _ = try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "m")
            count += 1
            let error = await failure {
                try await archive.commit(
                    [segment(2_001, at: 30_000_000, "late")], adaptation: nil, pass: pass, recording: longRecording)
            }
            #expect(error != nil || count == 1)
        }
        try await erasure.value
        #expect(try await archive.search("word", limit: 1).isEmpty)
        #expect(try await archive.search("late", limit: 1).isEmpty)
        #expect(try await archive.recordings().count == count)
    }

    @Test("readers cannot write")
    func readOnly() async throws {
        let error = await failure {
            try await archive.readers.read { try $0.connection.execute("DELETE FROM recording") }
        }
        #expect(error?.code == .denied)
    }

    @Test("a search for a very common word finds its newest matches; with a rarer word, the best matches")
    func commonWord() async throws {
        let recording = try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "file:talk.wav")
        let oldPass = try await archive.beginPass(recording: recording, engine: engine, profile: "live")
        let count = ArchiveQueries.maximumRanked + 100
        for pass in [oldPass, try await archive.beginPass(recording: recording, engine: engine, profile: "final")] {
            let segments = (1...count).map { number in
                segment(number, at: Int64(number) * 10_000, number == 7 ? "the needle in the hay" : "the hay")
            }
            try await archive.commit(segments, adaptation: nil, pass: pass, recording: recording)
        }
        // Only the later of the two passes is searched.
        let hits = try await archive.search("the", limit: 3)
        #expect(hits.map(\.segment) == [count, count - 1, count - 2])
        #expect(hits.allSatisfy { $0.excerpt == "[the] hay" })
        #expect(try await archive.search("the need", limit: 3).map(\.segment) == [7])
        #expect(try await archive.search("the hay", limit: 10_000).count == count)
    }

    @Test("changes to the full-text index since a connection last read it are not reported as damage")
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

    @Test("a read-only check reports a damaged index, and names the command that rebuilds it")
    func damagedIndex() async throws {
        try await archive.record("lost and found")
        try await archive.check()
        try await archive.execute("DELETE FROM segment_text_data WHERE id > 10")
        let error = await failure { try await archive.check() }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("fieldscribe recover") == true)
    }
}
