import FoundationEssentials
import Glibc
import Synchronization
import Testing
import TestKit

@testable import Core
@testable import System

@Suite struct ThreadTests {
    @Test("the body runs on a thread with the given name, and its value is returned")
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
        private let state = Mutex<[UInt]>([])

        var threads: [UInt] { state.withLock { $0 } }

        func add() { state.withLock { $0.append(UInt(pthread_self())) } }
    }

    @Test("all bodies run on the same thread")
    func sameThread() async throws {
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

    @Test("the thread ends when its last reference is released; each body is released before its result is returned")
    func ending() async throws {
        final class Object: Sendable {}
        weak var reference: Object?
        let threadPath: String
        do {
            let thread = WorkThread(named: "ends")
            let object = Object()
            reference = object
            threadPath = try await thread.run {
                withExtendedLifetime(object) {}
                return try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
            }
        }
        #expect(reference == nil)
        try await eventually("the thread's end") { access("/proc/\(threadPath)", F_OK) != 0 }
    }
}
