import Synchronization
import System

/// Runs what takes long on a thread of its own, below the priority of what records, and asks it to end once the task is
/// cancelled.
///
/// - Parameters:
///   - name: of the thread, at most 15 bytes.
///   - niceness: of the thread.
///   - until: the moment of the monotonic clock, in nanoseconds, from which on it shall end as well; nil for none.
///   - work: is handed what to ask whether it goes on.
func onStoppableThread<Value: Sendable>(
    named name: String, niceness: Int32 = 5, until: Int64? = nil,
    _ work: @escaping @Sendable (_ goesOn: @escaping @Sendable () -> Bool) throws -> Value
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

/// Says once that something shall end.
private final class StopFlag: Sendable {
    private let raised = Atomic<Bool>(false)

    var isRaised: Bool { raised.load(ordering: .relaxed) }

    func raise() { raised.store(true, ordering: .relaxed) }
}
