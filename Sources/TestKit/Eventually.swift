import Core
import Glibc
import System

/// Blocks the thread until a condition holds, by polling. In a task, use `eventually` instead.
///
/// - Parameters:
///   - what: a description of the condition, for the error.
///   - interval: the time between two checks.
/// - Throws: `NeverHappened` after ten minutes, or the error that the condition throws.
@available(*, noasync)
package func waitUntil(
    _ what: String, every interval: Duration = .milliseconds(10), _ condition: () throws -> Bool
) throws {
    let limit = WaitLimit(what)
    while try !condition() {
        try limit.check()
        usleep(UInt32(interval / .microseconds(1)))  // wait: polls for the condition
    }
}

/// Suspends the task until a condition holds, like `waitUntil`.
package func eventually(
    _ what: String, every interval: Duration = .milliseconds(10), _ condition: () async throws -> Bool
) async throws {
    let limit = WaitLimit(what)
    while try await !condition() {
        try limit.check()
        try await Task.sleep(for: interval)  // wait: polls for the condition
    }
}

/// Waits until `wakeup` is signaled, without blocking a thread of the task pool.
package func waitForSignal(_ wakeup: Wakeup) async throws {
    try await onThread(named: "test") { _ = wakeup.wait() }
}

package struct NeverHappened: Error, CustomStringConvertible {
    package let description: String
}

/// A time limit that turns a hang into an error with a message.
private struct WaitLimit {
    private let what: String
    private let end = ContinuousClock.now + .seconds(600)

    init(_ what: String) { self.what = what }

    func check() throws {
        // wait: a guard of ten minutes
        guard ContinuousClock.now < end else { throw NeverHappened(description: "not within ten minutes: \(what)") }
    }
}
