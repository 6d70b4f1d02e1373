import Glibc
import Synchronization

/// Requests to stop the program: Ctrl-C, and signals that systemd or `kill` sends.
package enum Interrupts {
    private struct Requests {
        var handler: @Sendable (Int) -> Void = { _ in }
        var count = 0
        var latest: Int64?
    }

    private static let requests = Mutex(Requests())

    /// Whether there has been a request since `handle` was called.
    package static var isRequested: Bool { requests.withLock { $0.count > 0 } }

    /// Calls `handler` for each request with the number of requests so far. Signals within half a second count as one,
    /// since `timeout` and shells signal a process and then its whole group. Calling this again replaces the handler
    /// and resets the count.
    package static func handle(_ handler: @escaping @Sendable (Int) -> Void = { _ in }) {
        requests.withLock { $0 = Requests(handler: handler) }
        _ = signalHandling
    }

    /// Starts handling signals at the first access.
    private static let signalHandling: Void = TerminationSignals.handle {
        let now = MonotonicClock.nanoseconds
        let current = requests.withLock { requests -> Requests? in
            if let latest = requests.latest, now - latest < 500_000_000 { return nil }
            requests.count += 1
            requests.latest = now
            return requests
        }
        if let current { current.handler(current.count) }
    }

    /// Prints a line and exits with status 130 on the first request.
    package static func exitOnRequest(printing line: String) {
        handle { _ in
            Terminal.say(line)
            exit(130)
        }
    }
}
