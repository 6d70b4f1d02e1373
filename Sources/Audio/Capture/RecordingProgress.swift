import Core
import Synchronization

/// Publishes how much of a recording has been written. Any number of tasks can wait for more.
package final class RecordingProgress: Sendable {
    /// The result of waiting for progress after a position.
    package enum Progress: Hashable, Sendable {
        /// Everything before this position can be read.
        case available(upTo: SamplePosition)
        case ended(at: SamplePosition)
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

    /// Creates the progress of a recording that is written up to `position`.
    package init(upTo position: SamplePosition = .zero, hasEnded: Bool = false) {
        state = Mutex(State(upTo: position, hasEnded: hasEnded))
    }

    package var position: SamplePosition { state.withLock { $0.upTo } }

    package var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Announces that everything before `position` can be read.
    package func written(upTo position: SamplePosition) { update { $0.upTo = max($0.upTo, position) } }

    /// Reports to all waiting tasks that the recording has ended. Call this even if `RecordingSession.record` throws.
    package func end(at position: SamplePosition) {
        update {
            $0.upTo = max($0.upTo, position)
            $0.hasEnded = true
        }
    }

    /// Waits until there is audio after `position` or the recording has ended.
    package func next(after position: SamplePosition) async -> Progress {
        let ticket = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let progress: Progress? = state.withLock { state in
                    // Checked under the lock, so that a cancellation is either seen here or finds the waiter below.
                    if Task.isCancelled { return .cancelled }
                    if let progress = state.progress(after: position) { return progress }
                    state.waiters[ticket] = Waiter(after: position, continuation: continuation)
                    return nil
                }
                if let progress { continuation.resume(returning: progress) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: ticket) }?.continuation.resume(returning: .cancelled)
        }
    }

    private func update(_ change: (inout State) -> Void) {
        let resumptions = state.withLock { state in
            change(&state)
            var resumptions: [(CheckedContinuation<Progress, Never>, Progress)] = []
            for (ticket, waiter) in state.waiters {
                guard let progress = state.progress(after: waiter.after) else { continue }
                resumptions.append((waiter.continuation, progress))
                state.waiters.removeValue(forKey: ticket)
            }
            return resumptions
        }
        for (continuation, progress) in resumptions { continuation.resume(returning: progress) }
    }
}
