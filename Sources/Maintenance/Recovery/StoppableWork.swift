import System

/// Runs slow work on a thread with a lower priority than the recorder's. Asks the work to stop when the task is
/// cancelled.
///
/// - Parameters:
///   - name: the thread's name, at most 15 bytes.
///   - until: a deadline on the monotonic clock, in nanoseconds; nil for none.
///   - work: called with a function that returns whether to continue.
func onStoppableThread<Value: Sendable>(
    named name: String, niceness: Int32 = 5, until: Int64? = nil,
    _ work: @escaping @Sendable (_ shouldContinue: @escaping @Sendable () -> Bool) throws -> Value
) async throws -> Value {
    let stop = StopFlag()
    return try await withTaskCancellationHandler {
        try await onThread(named: name, niceness: niceness) {
            try work { !stop.isRaised && until.map { MonotonicClock.nanoseconds < $0 } ?? true }
        }
    } onCancel: {
        stop.raise()
    }
}
