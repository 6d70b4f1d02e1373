import FoundationEssentials
import Glibc
import Testing

@testable import Core
@testable import Recognition

/// The real worker with the real model, shared by several workers.
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

    private static func read(_ samples: [Int16], by worker: WorkerProcess) throws -> [Word] {
        try worker.open(adaptation: nil, alternatives: 0, parts: [])
        try worker.append(samples)
        let reply = try worker.close(samples.count)
        return try worker.finish(samples.count, after: reply).words
    }

    /// The private memory of a process, in kilobytes.
    private static func own(_ worker: WorkerProcess) throws -> Int {
        let lines = try Fieldscribe.text("/proc/\(worker.id)/smaps_rollup").split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("Private_Dirty:") })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    }

    @Test("they return the same text as a single worker, and have little private memory")
    func alike() throws {
        let samples = try Self.speech()
        let lone = try WorkerProcess(Self.command())
        let words = try Self.read(samples, by: lone)
        let loneOwn = try Self.own(lone)
        #expect(words.count > 10)
        let workers = try WorkerProcess.start(Self.command(), count: 3)
        #expect(Set(workers.map(\.id)).count == 3)
        #expect(workers.map(\.engine) == [lone.engine, lone.engine, lone.engine])
        let waiting = try Self.own(workers[2])
        #expect(waiting * 20 < loneOwn, "\(waiting) of \(loneOwn) kB, before it has read anything")
        for worker in workers.reversed() {
            let again = try Self.read(samples, by: worker)
            #expect(again == words)
            let own = try Self.own(worker)
            #expect(own * 2 < loneOwn, "\(own) of \(loneOwn) kB")
        }
    }

    @Test("a dying worker does not end others, and none remains")
    func death() throws {
        let samples = try Self.speech()
        var workers = try WorkerProcess.start(Self.command(), count: 3)
        let ids = workers.map(\.id)
        // The worker that loaded the model, from which the others are forked.
        kill(ids[0], SIGKILL)
        #expect { _ = try Self.read(samples, by: workers[0]) } throws: { error in
            let error = error as? DeviceError
            return error?.code == .disconnected || error?.operation == "write"
        }
        let one = try Self.read(samples, by: workers[1])
        let other = try Self.read(samples, by: workers[2])
        #expect(one == other && one.count > 10)
        workers = []
        #expect(ids.map { kill($0, 0) } == [-1, -1, -1])
    }

    @Test("a finished pool has waited for all workers, even during an utterance")
    func finished() async throws {
        let samples = try Self.speech()
        let pool = WorkerPool(try Self.command(), size: 2)
        _ = try await pool.prepare()
        let workers = try Fieldscribe.children(of: getpid()).filter { id in
            (try? Fieldscribe.text("/proc/\(id)/cmdline"))?.contains("decode-worker\0--copies\01\0") == true
        }
        #expect(workers.count == 2)
        let reading = Task {
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
        _ = await reading.value
    }

    @Test("their pool replaces a worker that dies")
    func pool() async throws {
        let samples = try Self.speech()
        let pool = WorkerPool(try Self.command(), size: 3)
        _ = try await pool.prepare()
        let workers = try Fieldscribe.children(of: getpid()).filter { id in
            (try? Fieldscribe.text("/proc/\(id)/cmdline"))?.contains("decode-worker\0--copies\02\0") == true
        }
        #expect(workers.count == 3)
        kill(try #require(workers.first), SIGKILL)
        // Each is busy when the next one starts.
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
