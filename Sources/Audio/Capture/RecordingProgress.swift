import Core
import Synchronization

/// How far a recording has come, for all who follow it: the writer tells, any number of tasks wait.
package final class RecordingProgress: RecordingSink {
    /// What there is for a follower that has read up to some position.
    package enum Progress: Hashable, Sendable {
        /// More: everything before this position can be read.
        case available(upTo: SamplePosition)
        /// Nothing more will come; the recording ended here.
        case ended(at: SamplePosition)
        /// The waiting task was cancelled.
        case cancelled
    }

    private struct Waiter {
        var after: SamplePosition
        var continuation: CheckedContinuation<Progress, Never>
    }

    private struct State {
        var upTo: SamplePosition
        var hasEnded: Bool
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0

        func progress(after position: SamplePosition) -> Progress? {
            if upTo > position { return .available(upTo: upTo) }
            return hasEnded ? .ended(at: upTo) : nil
        }
    }

    private let state: Mutex<State>

    /// A recording that has come so far, and goes on unless it has ended.
    package init(upTo position: SamplePosition = .zero, hasEnded: Bool = false) {
        state = Mutex(State(upTo: position, hasEnded: hasEnded))
    }

    package func written(upTo position: SamplePosition) { update { $0.upTo = max($0.upTo, position) } }

    package func closed(at position: SamplePosition, reason: StopReason) { end(at: position) }

    /// Ends it for all who wait and will wait; whoever starts a recording calls it where `run` threw.
    package func end(at position: SamplePosition) {
        update {
            $0.upTo = max($0.upTo, position)
            $0.hasEnded = true
        }
    }

    /// Waits until there is something after `position`, or the recording has ended there.
    ///
    /// What is available comes first: `ended` means that all before it has been told of.
    package func next(after position: SamplePosition) async -> Progress {
        let ticket = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Progress? = state.withLock { state in
                    // Under the lock: a cancellation either is seen here or finds the waiter below.
                    if Task.isCancelled { return .cancelled }
                    if let progress = state.progress(after: position) { return progress }
                    state.waiters[ticket] = Waiter(after: position, continuation: continuation)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: ticket) }?.continuation.resume(returning: .cancelled)
        }
    }

    private func update(_ change: (inout State) -> Void) {
        let answered = state.withLock { state in
            change(&state)
            var answered: [(CheckedContinuation<Progress, Never>, Progress)] = []
            for (ticket, waiter) in state.waiters {
                guard let progress = state.progress(after: waiter.after) else { continue }
                answered.append((waiter.continuation, progress))
                state.waiters.removeValue(forKey: ticket)
            }
            return answered
        }
        for (continuation, progress) in answered { continuation.resume(returning: progress) }
    }
}
