import Glibc
import Synchronization

/// Requests to end: Ctrl-C, and any signal that systemd or `kill` sends.
package enum Interrupts {
    private static let requests = Mutex((count: 0, latest: Int64?.none))

    /// Whether there was a request since `handle` was called.
    package static var isRequested: Bool { requests.withLock { $0.count > 0 } }

    /// Calls `handler` for each request with their number. `timeout` and shells signal a process and then its whole group, so
    /// signals within half a second count as one. A later call counts again from zero.
    package static func handle(_ handler: @escaping @Sendable (Int) -> Void = { _ in }) {
        requests.withLock { $0 = (0, nil) }
        EndingSignals.handle {
            let now = MonotonicClock.nanoseconds
            let number = requests.withLock { requests -> Int? in
                if let latest = requests.latest, now - latest < 500_000_000 { return nil }
                requests = (requests.count + 1, now)
                return requests.count
            }
            if let number { handler(number) }
        }
    }

    /// At the first request, prints a line and exits with status 130.
    package static func handle(saying line: String) {
        handle { _ in
            Terminal.say(line)
            exit(130)
        }
    }
}
