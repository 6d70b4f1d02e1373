import FoundationEssentials
import Glibc
import Synchronization
import Testing
import TestKit

@testable import Core
@testable import System

@Suite struct ThreadTests {
    @Test("the body runs on a thread of its name, and its value comes back")
    func returnsItsValue() async throws {
        let name = try await onThread(named: "a-thread") {
            try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        }
        #expect(name == "a-thread\n")
    }

    @Test("what the body throws comes back")
    func throwsItsError() async {
        let failure = DeviceError(.failed, "test", "a test")
        await #expect(throws: failure) { try await onThread(named: "throws") { throw failure } }
    }
}

@Suite("A thread that is kept") struct WorkThreadTests {
    /// The threads on which something was done.
    private final class Log: Sendable {
        private let done = Mutex<[UInt]>([])

        var threads: [UInt] { done.withLock { $0 } }

        func add() { done.withLock { $0.append(UInt(pthread_self())) } }
    }

    @Test("all that it is handed is done on that one thread")
    func order() async throws {
        let thread = WorkThread(named: "worker")
        let name = try await thread.run { try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8) }
        #expect(name == "worker\n")
        let log = Log()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask { try await thread.run { log.add() } }
            }
            try await group.waitForAll()
        }
        #expect(log.threads.count == 50)
        #expect(Set(log.threads).count == 1)
    }

    @Test("what the body throws comes back, and the next thing is done")
    func throwing() async throws {
        let thread = WorkThread(named: "throws")
        let failure = DeviceError(.failed, "test", "a test")
        await #expect(throws: failure) { try await thread.run { throw failure } }
        #expect(try await thread.run { 7 } == 7)
    }

    @Test("it ends once nobody keeps it, and lets go of what it did before that is told")
    func ending() async throws {
        final class Held: Sendable {}
        weak var held: Held?
        let place: String
        do {
            let thread = WorkThread(named: "ends")
            let object = Held()
            held = object
            place = try await thread.run {
                withExtendedLifetime(object) {}
                return try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
            }
        }
        #expect(held == nil)
        try await eventually("the thread ends") { access("/proc/\(place)", F_OK) != 0 }
    }
}
