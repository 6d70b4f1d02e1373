@preconcurrency import Dispatch
import Glibc
import Synchronization

/// The keys and signals that ask the program to end: Ctrl-C, and what systemd and `kill` send.
final class Interrupts: Sendable {
    private let sources: [any DispatchSourceSignal]

    /// Calls `handler` at every such signal, with how many there have been.
    init(_ handler: @escaping @Sendable (Int) -> Void) {
        let queue = DispatchQueue(label: "interrupts")
        let counter = InterruptCounter()
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { handler(counter.next()) }
            source.resume()
            return source
        }
    }

    deinit { sources.forEach { $0.cancel() } }
}

/// How many there have been.
private final class InterruptCounter: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
}
