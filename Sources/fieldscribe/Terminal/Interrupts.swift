@preconcurrency import Dispatch
import Glibc
import Platform
import Synchronization

/// The keys and signals that ask the program to end: Ctrl-C, and what systemd and `kill` send.
final class Interrupts: Sendable {
    private let sources: [any DispatchSourceSignal]

    /// Calls `handler` whenever somebody asks, with how often that was. `timeout` and shells signal a process and then its
    /// whole group: signals within half a second of each other are one.
    init(_ handler: @escaping @Sendable (Int) -> Void) {
        let queue = DispatchQueue(label: "interrupts")
        let requests = Mutex(InterruptRequests())
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                let isNew = requests.withLock { $0.add(at: MonotonicClock.nanoseconds) }
                if isNew { handler(requests.withLock { $0.count }) }
            }
            source.resume()
            return source
        }
    }

    deinit { sources.forEach { $0.cancel() } }
}

/// How often the program was asked to end.
private struct InterruptRequests {
    private(set) var count = 0
    private var latest: Int64?

    /// Adds a signal at a time in nanoseconds; returns whether it is a request of its own.
    mutating func add(at time: Int64) -> Bool {
        if let latest, time - latest < 500_000_000 { return false }
        latest = time
        count += 1
        return true
    }
}
