import Synchronization

/// A thread that runs work items one after another.
package final class WorkThread: Sendable {
    private let queue = WorkQueue()
    /// Whether the thread could be started. If not, callers run their work themselves.
    let hasStarted: Bool

    /// - Parameters:
    ///   - name: The thread's name for `ps -L`, at most 15 bytes.
    ///   - niceness: 0 to 19, which is added to the inherited nice value.
    package init(named name: String, niceness: Int32 = 0) {
        hasStarted = startThread(named: name, niceness: niceness) { [queue] in queue.serve() }
    }

    deinit { queue.finish() }

    /// Runs a body after all earlier work. Returns the result after the thread has released the body.
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
            if !hasStarted { queue.runQueued() }
        }
    }

    /// Runs a body after all earlier work, without waiting for it.
    package func start(_ body: @escaping @Sendable () -> Void) {
        queue.add {
            body()
            return {}
        }
        if !hasStarted { queue.runQueued() }
    }
}

private final class WorkQueue: Sendable {
    /// Does the work and returns a completion handler to call afterwards.
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

    /// Lets the thread exit once the queue is empty.
    func finish() {
        state.withLock { $0.hasEnded = true }
        wakeup.signal()
    }

    func serve() {
        while true {
            runQueued()
            if state.withLock({ $0.hasEnded && $0.work.isEmpty }) { return }
            wakeup.wait()
        }
    }

    func runQueued() {
        while let complete = runNext() { complete() }
    }

    /// Runs the next item and releases it. Returns its completion handler; nil if the queue is empty.
    private func runNext() -> (@Sendable () -> Void)? {
        let work = state.withLock { $0.work.isEmpty ? nil : $0.work.removeFirst() }
        return work?()
    }
}
