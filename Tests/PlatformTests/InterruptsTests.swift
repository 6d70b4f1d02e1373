import Glibc
import Testing

@testable import System

@Suite("Requests to stop") struct InterruptsTests {
    @Test("a second handler replaces the first one and uses the same thread")
    func replaced() {
        let (first, second) = (Wakeup(), Wakeup())
        Interrupts.handle { _ in first.signal() }
        Interrupts.handle { _ in second.signal() }
        // The handler of this process from now on.
        defer { Interrupts.handle { _ in _exit(130) } }
        // This thread may block the signal.
        kill(getpid(), SIGUSR1)
        #expect(second.wait(timeout: .seconds(60)))
        #expect(!first.wait(timeout: .zero) && Interrupts.isRequested)
    }
}
