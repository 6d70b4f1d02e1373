import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition

@Suite("Replacing a failing engine") struct FallbackTests {
    /// Like the executable, treats a closed pipe as an error instead of exiting.
    init() { signal(SIGPIPE, SIG_IGN) }

    private let chunks = [AudioChunk.samples(TranscriberTests.bursts([5, 30, 6, 25]))]

    /// Returns a pool of workers that run worker.py in a mode, with a fallback.
    private func pool(_ mode: String, size: Int = 2) -> WorkerPool {
        WorkerPool(
            TranscriberTests.pool(mode).partials, size: size, fallback: TranscriberTests.pool("plain").partials)
    }

    @Test("a recognizer that cannot start is reported once, and everything is transcribed", arguments: [1, 2])
    func cannotStart(size: Int) async throws {
        let missing = WorkerCommand(path: "/nowhere/worker", arguments: [], model: "gone")
        let pool = WorkerPool(missing, size: size, fallback: TranscriberTests.pool("plain").partials)
        let engine = try await pool.prepare()
        #expect(engine.model == "plain")
        let error = await pool.consumeEngineError()
        #expect(error?.message.contains("/nowhere/worker") == true)
        let (sink, _) = try await TranscriberTests.transcribe(chunks, with: pool)
        #expect(sink.segments.map(\.words.count) == [1, 1, 1, 1] && sink.faults.isEmpty)
        // Workers that cannot be started are not tried again.
        await pool.releaseIdle()
        _ = try await pool.prepare()
        #expect(await pool.consumeEngineError() == nil)
    }

    @Test(
        "if an utterance crashes the engine repeatedly, the fallback decodes it and the following ones",
        arguments: [1, 2])
    func repeatedCrash(size: Int) async throws {
        let pool = pool("never", size: size)
        let (sink, _) = try await TranscriberTests.transcribe(chunks, with: pool)
        #expect(sink.segments.map(\.id) == [1, 2, 3, 4])
        #expect(sink.segments.map(\.endedBy) == [.silence, .silence, .silence, .silence])
        #expect(sink.segments.map(\.words.count) == [1, 1, 1, 1])
        #expect(sink.faults.count == 1, "\(sink.faults)")
        // With a single worker, the engines are reported in order.
        #expect(size > 1 || sink.engines.map(\.model) == ["never", "plain"])
        #expect(sink.engines.contains { $0.model == "plain" })
        // The next recording may use the preferred engine again.
        await pool.releaseIdle()
        let (again, _) = try await TranscriberTests.transcribe([.samples(TranscriberTests.bursts([5, 6]))], with: pool)
        #expect(again.segments.map(\.words.count) == [1, 1] && again.faults.isEmpty)
    }

    @Test("no utterance is lost after an invalid reply")
    func invalidReply() async throws {
        let (sink, _) = try await TranscriberTests.transcribe(chunks, with: pool("garbage"))
        #expect(sink.segments.map(\.words.count) == [1, 1, 1, 1] && sink.faults.count == 1)
    }

    @Test("if the fallback cannot start either, its error is thrown, and the first engine's error is reported")
    func bothCannotStart() async throws {
        let missing = WorkerCommand(path: "/nowhere/worker", arguments: [], model: "gone")
        let missingFallback = WorkerCommand(path: "/nowhere/other", arguments: [], model: "gone, too")
        let pool = WorkerPool(missing, size: 1, fallback: missingFallback)
        await #expect { _ = try await pool.prepare() } throws: { error in
            (error as? DeviceError)?.message.contains("/nowhere/other") == true
        }
        #expect(await pool.consumeEngineError()?.message.contains("/nowhere/worker") == true)
    }
}
