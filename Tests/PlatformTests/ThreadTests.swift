import FoundationEssentials
import Glibc
import Synchronization
import Testing
import TestKit

@testable import Core
@testable import System

@Suite struct ThreadTests {
    @Test("the body runs on a thread with its name, and its value is returned")
    func returnsItsValue() async throws {
        let name = try await onThread(named: "a-thread") {
            try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        }
        #expect(name == "a-thread\n")
    }

    @Test("the body's error is rethrown")
    func throwsItsError() async {
        let failure = DeviceError(.failed, "test", "a test")
        await #expect(throws: failure) { try await onThread(named: "throws") { throw failure } }
    }
}

@Suite("A persistent thread") struct WorkThreadTests {
    /// The threads that ran a body.
    private final class Log: Sendable {
        private let done = Mutex<[UInt]>([])

        var threads: [UInt] { done.withLock { $0 } }

        func add() { done.withLock { $0.append(UInt(pthread_self())) } }
    }

    @Test("it runs everything on that one thread")
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

    @Test("the body's error is rethrown, and the next body runs")
    func throwing() async throws {
        let thread = WorkThread(named: "throws")
        let failure = DeviceError(.failed, "test", "a test")
        await #expect(throws: failure) { try await thread.run { throw failure } }
        #expect(try await thread.run { 7 } == 7)
    }

    @Test("it ends with its last reference, and releases the body before the result is returned")
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
