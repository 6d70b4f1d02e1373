import Synchronization
import Testing

@testable import System

@Suite struct WakeupTests {
    @Test("a signal before the wait is kept, and several count as one")
    func signalIsKept() {
        let wakeup = Wakeup()
        wakeup.signal()
        wakeup.signal()
        #expect(wakeup.wait(timeout: .seconds(60)))
        #expect(!wakeup.wait(timeout: .zero))
        wakeup.signal()
        #expect(wakeup.wait())
    }

    @Test("without a signal the wait also ends", arguments: [Duration.zero, .milliseconds(5), .seconds(-1)])
    func timesOut(timeout: Duration) { #expect(!Wakeup().wait(timeout: timeout)) }

    @Test("two threads that wake each other lose no signal")
    func pingPong() async throws {
        let (ping, pong) = (Wakeup(), Wakeup())
        async let first = onThread(named: "ping") {
            (0..<10_000).count { _ in
                ping.signal()
                return pong.wait(timeout: .seconds(60))
            }
        }
        async let second = onThread(named: "pong") {
            (0..<10_000).count { _ in
                let woken = ping.wait(timeout: .seconds(60))
                pong.signal()
                return woken
            }
        }
        #expect(try await first == 10_000)
        #expect(try await second == 10_000)
    }

    @Test("a woken thread sees writes before the signal, even if another one was pending")
    func publishes() async throws {
        let wakeup = Wakeup()
        let count = Counter()
        async let seen = onThread(named: "waiter") {
            var seen = 0
            while seen < 100_000 {
                guard wakeup.wait(timeout: .seconds(60)) else { break }
                seen = count.value
            }
            return seen
        }
        for value in 1...100_000 {
            count.set(value)
            wakeup.signal()
        }
        #expect(try await seen == 100_000)
    }
}

private final class Counter: Sendable {
    private let stored = Atomic<Int>(0)

    var value: Int { stored.load(ordering: .relaxed) }

    func set(_ value: Int) { stored.store(value, ordering: .relaxed) }
}
