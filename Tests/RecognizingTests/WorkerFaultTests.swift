import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition

@Suite("Worker faults") struct WorkerFaultTests {
    /// Like the executable, treats a closed pipe as an error instead of exiting.
    init() { signal(SIGPIPE, SIG_IGN) }

    private let chunks = [AudioChunk.samples(TranscriberTests.bursts([5, 30, 6]))]

    @Test("an invalid reply loses only its own utterance")
    func invalidReply() async throws {
        let (sink, _) = try await TranscriberTests.transcribe(chunks, with: TranscriberTests.pool("garbage"))
        #expect(sink.segments.map(\.endedBy) == [.silence, .error, .silence])
        #expect(sink.segments.map(\.words.count) == [1, 0, 1])
        #expect(sink.faults.map(\.code) == [.failed])
    }

    @Test("a program that does not speak the protocol is rejected")
    func otherProtocol() async throws {
        let pool = WorkerPool(WorkerCommand(path: "/bin/echo", arguments: ["hello"], model: "none"), size: 1)
        await #expect { _ = try await pool.prepare() } throws: { error in
            (error as? DeviceError)?.code == .unsupported
        }
    }

    @Test("a worker that is not ready in time fails, but is not rejected as unsupported")
    func notReady() {
        let command = WorkerCommand(path: "/bin/cat", arguments: [], model: "none")
        #expect { _ = try WorkerProcess(command, within: 0) } throws: { error in
            (error as? DeviceError)?.code == .failed
        }
    }

    @Test(
        "a worker that keeps writing gets no more time for an utterance than a silent one",
        // wait: a timeout; the worker never stops by itself
        .timeLimit(.minutes(60)), arguments: ["chatter", "drip"])
    func endlessOutput(mode: String) throws {
        let script = #filePath.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/worker.py"
        let command = WorkerCommand(path: "/usr/bin/python3", arguments: [script, mode], model: "none")
        let worker = try WorkerProcess(command, timeout: .init(seconds: 1, timesAudio: 0))
        let samples = [Int16](repeating: 0, count: 16_000)
        try worker.open(adaptation: nil, alternatives: 0, parts: [])
        try worker.append(samples)
        let error = thrown { _ = try worker.finish(samples.count, after: worker.close(samples.count)) }
        #expect(error?.code == .failed && error?.operation == "poll", "\(String(describing: error))")
    }

    @Test(
        "a crash before or after a worker's first reply adds one to the number of sessions",
        arguments: ["once", "late"])
    func sessions(mode: String) async throws {
        let folder = TemporaryFolder()
        let (sink, statistics) = try await TranscriberTests.transcribe(
            chunks, with: TranscriberTests.pool(mode, folder.file("died"), size: 1))
        #expect(sink.segments.map(\.words.count) == [1, 1, 1])
        #expect(statistics.sessions == 4)
    }

    @Test("a failed partial result affects nothing else")
    func partials() async throws {
        let sink = CollectingSink(wantsPartials: true)
        let samples = TranscriberTests.bursts([5, 30, 6])
        let chunks = stride(from: 0, to: samples.count, by: 8_000).map {
            AudioChunk.samples(Array(samples[$0..<min(samples.count, $0 + 8_000)]))
        }
        _ = try await Transcriber(pool: TranscriberTests.pool("plain")).run(ListSource(chunks), into: sink)
        #expect(sink.segments.map(\.words.count) == [1, 1, 1])
    }
}
