import Synchronization

/// A thread that runs work items one after another.
package final class WorkThread: Sendable {
    private let queue = WorkQueue()
    /// Whether the thread exists; if not, callers run their work themselves.
    let isThere: Bool

    /// - Parameters:
    ///   - name: At most 15 bytes, for `ps -L`.
    ///   - niceness: 0 to 19, added to the process's.
    package init(named name: String, niceness: Int32 = 0) {
        isThere = startThread(named: name, niceness: niceness) { [queue] in queue.serve() }
    }

    deinit { queue.end() }

    /// Runs a body after all earlier ones; returns its result after the thread released it.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        defer { queue.results.acquire() }
        return try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            queue.add { [results = queue.results] in
                let result = Result { try body() }
                return {
                    results.release()
                    continuation.resume(with: result)
                }
            }
            if !isThere { queue.serveNow() }
        }
    }

    /// Runs a body after all earlier ones, without waiting for it.
    package func start(_ body: @escaping @Sendable () -> Void) {
        queue.add {
            body()
            return {}
        }
        if !isThere { queue.serveNow() }
    }
}

private final class WorkQueue: Sendable {
    /// Runs, and returns the completion to call afterwards.
    typealias Work = @Sendable () -> @Sendable () -> Void

    private struct State {
        var work: [Work] = []
        var hasEnded = false
    }

    let results = ThreadResults()
    private let state = Mutex(State())
    private let wakeup = Wakeup()

    func add(_ work: @escaping Work) {
        state.withLock { $0.work.append(work) }
        wakeup.signal()
    }

    /// Ends the thread after its queue is empty.
    func end() {
        state.withLock { $0.hasEnded = true }
        wakeup.signal()
    }

    /// Runs work until the end.
    func serve() {
        while true {
            serveNow()
            if state.withLock({ $0.hasEnded && $0.work.isEmpty }) { return }
            wakeup.wait()
        }
    }

    /// Runs the queued work.
    func serveNow() {
        while let tell = doNext() { tell() }
    }

    /// Runs the next item and releases it before its completion is called.
    private func doNext() -> (@Sendable () -> Void)? {
        let work = state.withLock { $0.work.isEmpty ? nil : $0.work.removeFirst() }
        return work?()
    }
}
