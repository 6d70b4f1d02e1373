@preconcurrency import Dispatch
import Glibc

/// The keys and signals that ask the program to end: Ctrl-C, and what systemd and `kill` send.
final class Interrupts: Sendable {
    private let sources: [any DispatchSourceSignal]

    /// Calls `handler` at every such signal, with how many there have been.
    init(_ handler: @escaping @Sendable (Int) -> Void) {
        let counter = InterruptCounter()
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: counter.queue)
            source.setEventHandler { handler(counter.next()) }
            source.resume()
            return source
        }
    }

    deinit { sources.forEach { $0.cancel() } }
}

/// Counts on its own queue.
// Safety: `count` is touched on `queue` only.
private final class InterruptCounter: @unchecked Sendable {
    let queue = DispatchQueue(label: "interrupts")
    private var count = 0

    func next() -> Int {
        count += 1
        return count
    }
}
