import Synchronization
import System

/// Requests to end: Ctrl-C, and any signal that systemd or `kill` sends.
enum Interrupts {
    /// Calls `handler` for each request with their number. `timeout` and shells signal a process and then its whole group, so
    /// signals within half a second count as one.
    static func handle(_ handler: @escaping @Sendable (Int) -> Void) {
        let requests = Mutex(InterruptRequests())
        EndingSignals.handle {
            let isNew = requests.withLock { $0.add(at: MonotonicClock.nanoseconds) }
            if isNew { handler(requests.withLock { $0.count }) }
        }
    }
}

/// How often the program was asked to end.
private struct InterruptRequests {
    private(set) var count = 0
    private var latest: Int64?

    /// Adds a signal at a time in nanoseconds; returns whether it counts as a new request.
    mutating func add(at time: Int64) -> Bool {
        if let latest, time - latest < 500_000_000 { return false }
        latest = time
        count += 1
        return true
    }
}
