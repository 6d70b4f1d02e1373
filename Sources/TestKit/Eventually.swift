import Glibc

/// Blocks the thread until a condition holds; checks it again and again.
///
/// A test waits by this instead of a sleep, and asserts nothing about how long it takes. Tasks use `eventually`.
///
/// - Parameters:
///   - what: What the test waits for; the error names it.
///   - interval: The time between two checks.
/// - Throws: `NeverHappened` after ten minutes, and whatever the condition throws.
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

/// Waits until a condition holds, as `waitUntil`, and leaves the thread to other tasks meanwhile.
package func eventually(
    _ what: String, every interval: Duration = .milliseconds(10), _ condition: () async throws -> Bool
) async throws {
    let limit = WaitLimit(what)
    while try await !condition() {
        try limit.check()
        try await Task.sleep(for: interval)  // wait: polls for the condition
    }
}

/// The error of a test that waited for something in vain.
package struct NeverHappened: Error, CustomStringConvertible {
    package let description: String
}

/// Ends a hang with a message, and has no other purpose.
private struct WaitLimit {
    private let what: String
    private let end = ContinuousClock.now + .seconds(600)

    init(_ what: String) { self.what = what }

    func check() throws {
        // wait: a guard of ten minutes
        guard ContinuousClock.now < end else { throw NeverHappened(description: "not within ten minutes: \(what)") }
    }
}
