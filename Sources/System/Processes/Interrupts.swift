import Glibc
import Synchronization

/// Requests to stop the program: Ctrl-C, and signals that systemd or `kill` sends.
package enum Interrupts {
    private static let requests = Mutex((count: 0, latest: Int64?.none))

    /// Whether there has been a request since `handle` was called.
    package static var isRequested: Bool { requests.withLock { $0.count > 0 } }

    /// Calls `handler` for each request with the number of requests so far. Signals within half a second count as one,
    /// since `timeout` and shells signal a process and then its whole group. Calling this again resets the count.
    package static func handle(_ handler: @escaping @Sendable (Int) -> Void = { _ in }) {
        requests.withLock { $0 = (0, nil) }
        TerminationSignals.handle {
            let now = MonotonicClock.nanoseconds
            let count = requests.withLock { requests -> Int? in
                if let latest = requests.latest, now - latest < 500_000_000 { return nil }
                requests = (requests.count + 1, now)
                return requests.count
            }
            if let count { handler(count) }
        }
    }

    /// Prints a line and exits with status 130 on the first request.
    package static func exitOnRequest(printing line: String) {
        handle { _ in
            Terminal.say(line)
            exit(130)
        }
    }
}
