import Synchronization
import Testing

@testable import System

@Suite struct WakeupTests {
    @Test("a signal before the wait is kept, and several signals count as one")
    func signalIsKept() {
        let wakeup = Wakeup()
        wakeup.signal()
        wakeup.signal()
        #expect(wakeup.wait(timeout: .seconds(60)))
        #expect(!wakeup.wait(timeout: .zero))
        wakeup.signal()
        #expect(wakeup.wait())
    }

    @Test("without a signal, the wait times out", arguments: [Duration.zero, .milliseconds(5), .seconds(-1)])
    func timesOut(timeout: Duration) { #expect(!Wakeup().wait(timeout: timeout)) }

    @Test("no signal is lost between two threads that wake each other")
    func pingPong() async throws {
        let (ping, pong) = (Wakeup(), Wakeup())
        async let pongCount = onThread(named: "ping") {
            (0..<10_000).count { _ in
                ping.signal()
                return pong.wait(timeout: .seconds(60))
            }
        }
        async let pingCount = onThread(named: "pong") {
            (0..<10_000).count { _ in
                let woken = ping.wait(timeout: .seconds(60))
                pong.signal()
                return woken
            }
        }
        #expect(try await pongCount == 10_000)
        #expect(try await pingCount == 10_000)
    }

    @Test("a woken thread sees writes before the signal, even if another signal was pending")
    func publishes() async throws {
        let wakeup = Wakeup()
        let count = Counter()
        async let lastValue = onThread(named: "waiter") {
            var value = 0
            while value < 100_000 {
                guard wakeup.wait(timeout: .seconds(60)) else { break }
                value = count.value
            }
            return value
        }
        for value in 1...100_000 {
            count.set(value)
            wakeup.signal()
        }
        #expect(try await lastValue == 100_000)
    }
}

private final class Counter: Sendable {
    private let stored = Atomic<Int>(0)

    var value: Int { stored.load(ordering: .relaxed) }

    func set(_ value: Int) { stored.store(value, ordering: .relaxed) }
}
