import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Core
@testable import Maintenance
@testable import Recognition

/// A worker that crashes repeatedly on a recording, so that another engine continues: passes must name the right one.
@Suite("A replacement engine's text has its name") struct FallbackPassTests {
    private let storage = Storage()

    /// Like in the executable: writing to a worker that has exited is an error, not a signal.
    init() { signal(SIGPIPE, SIG_IGN) }

    /// The wanted engine's workers crash on bursts of more than two seconds.
    private func pool() -> WorkerPool {
        WorkerPool(
            BacklogTests.command(model: "never"), size: 1, fallback: BacklogTests.command(model: "plain"))
    }

    @Test("A text with a part from another engine has that engine's name, even in the journal")
    func writtenDown() async throws {
        for (seconds, model) in [([1, 3, 1], "plain"), ([1, 1, 1], "never")] {
            let storage = Storage()
            func write() async throws {
                let archive = try storage.archive()
                let id = try await storage.record([.samples(BacklogTests.sound(seconds))], in: archive)
                let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: EventHub())
                #expect(try await backlog.run(pool: pool()) == [id])
                #expect(try await archive.passes(of: id).map(\.engine.model) == [model])
                #expect(try #require(try await archive.transcript(of: id)).1.segments.count == 3)
            }
            try await write()
            for name in ["", "-wal", "-shm"] { unlink(storage.configuration.archivePath + name) }
            try await storage.recover()
            let passes = try await storage.archive().passes(of: 1)
            #expect(passes.map(\.engine.model) == [model] && passes.map(\.isComplete) == [true])
        }
    }

    @Test(
        "A second pass that the wanted engine cannot complete changes no text, is reported, and the next recording follows"
    )
    func readAgain() async throws {
        let archive = try storage.archive()
        for seconds in [[1, 3, 1], [1, 1]] {
            try await storage.record([.samples(BacklogTests.sound(seconds))], in: archive)
        }
        let backlog = Backlog(configuration: storage.configuration, archive: archive, hub: EventHub())
        #expect(try await backlog.run(pool: BacklogTests.pool()) == [1, 2])
        let before = try #require(try await archive.transcript(of: 1)).1
        let hub = EventHub()
        let events = hub.events(withPartials: false)
        let job = SecondPassJob(configuration: storage.configuration, archive: archive, hub: hub)
        #expect(try await job.run(pool: pool()) == [2])
        // It is tried again by another process.
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
