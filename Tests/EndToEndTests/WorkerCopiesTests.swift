import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition

/// Real workers, which are forked from a worker that has loaded the real model.
@Suite("Workers that share a model", .serialized) struct WorkerCopiesTests {
    init() { signal(SIGPIPE, SIG_IGN) }

    private static func command() throws -> WorkerCommand {
        WorkerCommand(
            path: try Fieldscribe.executable(), arguments: ["decode-worker"], model: PocketSphinxModel.debian,
            makesCopies: true)
    }

    private static func speech() throws -> [Int16] {
        let wave = try Data(contentsOf: URL(filePath: Speech.path("0870")))
        return [UInt8](wave.dropFirst(44)).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }

    private static func transcribe(_ samples: [Int16], with worker: WorkerProcess) throws -> [Word] {
        try worker.open(adaptation: nil, alternatives: 0, parts: [])
        try worker.append(samples)
        let reply = try worker.close(samples.count)
        return try worker.finish(samples.count, after: reply).words
    }

    /// Returns the private memory of a worker in kilobytes.
    private static func privateMemory(_ worker: WorkerProcess) throws -> Int {
        let lines = try Fieldscribe.text("/proc/\(worker.id)/smaps_rollup").split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("Private_Dirty:") })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    }

    @Test("workers that share a model return the same text as a single worker, and have little private memory")
    func sameText() throws {
        let samples = try Self.speech()
        let single = try WorkerProcess(Self.command())
        let words = try Self.transcribe(samples, with: single)
        let singleMemory = try Self.privateMemory(single)
        #expect(words.count > 10)
        let workers = try WorkerProcess.start(Self.command(), count: 3)
        #expect(Set(workers.map(\.id)).count == 3)
        #expect(workers.map(\.engine) == [single.engine, single.engine, single.engine])
        let idleMemory = try Self.privateMemory(workers[2])
        #expect(idleMemory * 20 < singleMemory, "\(idleMemory) of \(singleMemory) kB before the first utterance")
        for worker in workers.reversed() {
            let again = try Self.transcribe(samples, with: worker)
            #expect(again == words)
            let memory = try Self.privateMemory(worker)
            #expect(memory * 2 < singleMemory, "\(memory) of \(singleMemory) kB")
        }
    }

    @Test("when a worker dies, the others continue, and at the end all have exited")
    func death() throws {
        let samples = try Self.speech()
        var workers = try WorkerProcess.start(Self.command(), count: 3)
        let ids = workers.map(\.id)
        // The worker that loaded the model, from which the others are forked.
        kill(ids[0], SIGKILL)
        #expect { _ = try Self.transcribe(samples, with: workers[0]) } throws: { error in
            let error = error as? DeviceError
            return error?.code == .disconnected || error?.operation == "write"
        }
        let second = try Self.transcribe(samples, with: workers[1])
        let third = try Self.transcribe(samples, with: workers[2])
        #expect(second == third && second.count > 10)
        workers = []
        #expect(ids.map { kill($0, 0) } == [-1, -1, -1])
    }

    @Test("a worker exits immediately if a request is not JSON")
    func invalidRequest() throws {
        let folder = TemporaryFolder()
        let frame = [UInt8(ascii: "r"), 1, 0, 0, 0, UInt8(ascii: "{")]
        try Data(frame).write(to: URL(filePath: folder.file("frame")))
        let outcome = try Fieldscribe.run(
            "decode-worker", "--engine", "pocketsphinx", "--model", PocketSphinxModel.debian, in: folder,
            input: folder.file("frame"))
        #expect(outcome.status == 1 && outcome.errors == [], "\(outcome)")
    }

    @Test("finishing a pool waits until all workers have exited, even during an utterance")
    func finished() async throws {
        let samples = try Self.speech()
        let pool = WorkerPool(try Self.command(), size: 2)
        _ = try await pool.prepare()
        let workers = try Fieldscribe.children(of: getpid()).filter { id in
            (try? Fieldscribe.text("/proc/\(id)/cmdline"))?.contains("decode-worker\0--copies\01\0") == true
        }
        #expect(workers.count == 2)
        let transcription = Task {
            guard let session = try? await pool.begin(samples, adaptation: nil, alternatives: 0) else { return }
            _ = try? await pool.finish(session, samples, adaptation: nil, alternatives: 0)
        }
        var usage = rusage()
        getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        let before = usage.ru_utime.tv_sec * 1_000_000 + Int(usage.ru_utime.tv_usec)
        await pool.finish()
        #expect(workers.map { kill($0, 0) } == [-1, -1])
        getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        #expect(usage.ru_utime.tv_sec * 1_000_000 + Int(usage.ru_utime.tv_usec) > before)
        _ = await transcription.value
    }

    @Test("the pool replaces a worker that dies")
    func pool() async throws {
        let samples = try Self.speech()
        let pool = WorkerPool(try Self.command(), size: 3)
        _ = try await pool.prepare()
        let workers = try Fieldscribe.children(of: getpid()).filter { id in
            (try? Fieldscribe.text("/proc/\(id)/cmdline"))?.contains("decode-worker\0--copies\02\0") == true
        }
        #expect(workers.count == 3)
        kill(try #require(workers.first), SIGKILL)
        // Each worker is still busy when the next session begins.
        var sessions: [WorkerPool.Session] = []
        for _ in 0..<3 { sessions.append(try await pool.begin(samples, adaptation: nil, alternatives: 0)) }
        var decoded: [WorkerPool.Decoded] = []
        for session in sessions {
            decoded.append(try await pool.finish(session, samples, adaptation: nil, alternatives: 0))
        }
        #expect(decoded.map(\.attempts).sorted() == [1, 1, 2])
        #expect(decoded[0].hypothesis.words.count > 10)
        #expect(Set(decoded.map(\.hypothesis.words)).count == 1)
        await pool.end()
    }
}
