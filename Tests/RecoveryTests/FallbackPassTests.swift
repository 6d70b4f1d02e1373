import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Core
@testable import Maintenance
@testable import Recognition

/// If an engine's worker crashes repeatedly, another engine continues. Passes must name the engine that was used.
@Suite("Passes from a fallback engine") struct FallbackPassTests {
    private let storage = Storage()

    /// As in the executable, writing to a worker that has exited must be an error, not a signal.
    init() { signal(SIGPIPE, SIG_IGN) }

    /// Returns a pool whose first engine crashes on bursts of more than two seconds.
    private func pool() -> WorkerPool {
        WorkerPool(
            BacklogTests.command(model: "never"), size: 1, fallback: BacklogTests.command(model: "plain"))
    }

    @Test("A transcript that another engine completed names that engine, even in the journal")
    func fallbackName() async throws {
        for (seconds, model) in [([1, 3, 1], "plain"), ([1, 1, 1], "never")] {
            let storage = Storage()
            func write() async throws {
                let archive = try storage.archive()
                let id = try await storage.record([.samples(BacklogTests.bursts(seconds: seconds))], in: archive)
                let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: EventHub())
                #expect(try await backlog.run(pool: pool()) == [id])
                #expect(try await archive.passes(of: id).map(\.engine.model) == [model])
                #expect(try #require(try await archive.transcript(of: id)).1.segments.count == 3)
            }
            try await write()
            for suffix in ["", "-wal", "-shm"] { unlink(storage.configuration.archivePath + suffix) }
            try await storage.recover()
            let passes = try await storage.archive().passes(of: 1)
            #expect(passes.map(\.engine.model) == [model] && passes.map(\.isComplete) == [true])
        }
    }

    @Test(
        "A second pass that the better engine cannot complete is reported and changes no transcript; the job continues"
    )
    func incompleteSecondPass() async throws {
        let archive = try storage.archive()
        for seconds in [[1, 3, 1], [1, 1]] {
            try await storage.record([.samples(BacklogTests.bursts(seconds: seconds))], in: archive)
        }
        let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: EventHub())
        #expect(try await backlog.run(pool: BacklogTests.pool()) == [1, 2])
        let before = try #require(try await archive.transcript(of: 1)).1
        let hub = EventHub()
        let events = hub.events(withPartials: false)
        let job = SecondPassJob(configuration: storage.configuration, archive: archive, hub: hub)
        #expect(try await job.run(pool: pool()) == [2])
        // The job does not try again, but a new one does, as after a restart.
        #expect(try await job.waiting().isEmpty)
        #expect(
            try await SecondPassJob(configuration: storage.configuration, archive: archive, hub: hub).waiting().map(
                \.id)
                == [1])
        hub.finish()
        var messages: [String] = []
        for await case .fault(_, let message) in events { messages.append(message) }
        #expect(messages.count == 1 && messages.allSatisfy { $0.contains("recording 1 keeps its text") })
        #expect(try await archive.passes(of: 1).map(\.isComplete) == [true, false])
        #expect(try #require(try await archive.transcript(of: 1)).1.segments == before.segments)
        #expect(try await archive.passes(of: 2).map(\.engine.model) == ["plain", "never"])
    }
}
