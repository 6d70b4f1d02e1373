import Synchronization

/// A thread that does what it is handed, one thing after the other, for as long as it is kept.
package final class WorkThread: Sendable {
    private let queue = WorkQueue()

    /// Whether the system gave a thread; where it did not, the caller's does the work.
    private let isThere: Bool

    /// - Parameters:
    ///   - name: at most 15 bytes, as `ps -L` shows it.
    ///   - niceness: added to the process's, 0 to 19.
    package init(named name: String, niceness: Int32 = 0) {
        isThere = startThread(named: name, niceness: niceness) { [queue] in queue.serve() }
    }

    deinit { queue.end() }

    /// Does something there, behind all that was handed to it before.
    ///
    /// - Returns: what the body returned, once the thread has let go of the body.
    /// - Throws: what the body threw.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            queue.add {
                let result = Result { try body() }
                return { continuation.resume(with: result) }
            }
            if !isThere { queue.serveNow() }
        }
    }

    /// Does something there, behind all that was handed to it before, and does not wait for it.
    package func start(_ body: @escaping @Sendable () -> Void) {
        queue.add {
            body()
            return {}
        }
        if !isThere { queue.serveNow() }
    }
}

/// What a thread is still to do.
private final class WorkQueue: Sendable {
    /// Does something, and gives who is to be told so.
    typealias Work = @Sendable () -> @Sendable () -> Void

    private struct State {
        var work: [Work] = []
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let wakeup = Wakeup()

    func add(_ work: @escaping Work) {
        state.withLock { $0.work.append(work) }
        wakeup.signal()
    }

    /// Nothing more will come.
    func end() {
        state.withLock { $0.hasEnded = true }
        wakeup.signal()
    }

    /// Does what comes until the end.
    func serve() {
        while true {
            serveNow()
            if state.withLock({ $0.hasEnded && $0.work.isEmpty }) { return }
            wakeup.wait()
        }
    }

    /// Does what there is.
    func serveNow() {
        while let tell = doNext() { tell() }
    }

    /// Does the next thing, and lets go of it: who is told that it was done may rely on that.
    private func doNext() -> (@Sendable () -> Void)? {
        let work = state.withLock { $0.work.isEmpty ? nil : $0.work.removeFirst() }
        return work?()
    }
}
