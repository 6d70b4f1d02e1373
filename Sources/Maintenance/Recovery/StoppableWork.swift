import System

/// Runs slow work on a thread with a lower priority than the recorder's. Cancelling the task stops the work.
///
/// - Parameters:
///   - name: the thread's name, at most 15 bytes.
///   - deadline: the time on the monotonic clock at which the work stops, in nanoseconds; nil for none.
///   - work: called with a function that returns whether to continue.
func onStoppableThread<Value: Sendable>(
    named name: String, niceness: Int32 = 5, until deadline: Int64? = nil,
    _ work: @escaping @Sendable (_ shouldContinue: @escaping @Sendable () -> Bool) throws -> Value
) async throws -> Value {
    let stop = StopFlag()
    return try await withTaskCancellationHandler {
        try await onThread(named: name, niceness: niceness) {
            try work { !stop.isRaised && deadline.map { MonotonicClock.nanoseconds < $0 } ?? true }
        }
    } onCancel: {
        stop.raise()
    }
}
