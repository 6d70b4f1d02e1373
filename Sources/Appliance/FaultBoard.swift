import Core
import Platform
import Synchronization

/// The last thing that went wrong, for whoever asks.
final class FaultBoard: Sendable {
    struct Fault: Hashable, Sendable {
        var code: String
        var message: String
        /// By the wall clock, in seconds since 1970.
        var time: Double
        var clock: RecordingSummary.Clock
    }

    private let last = Mutex<Fault?>(nil)

    /// The last one since the appliance was started.
    var fault: Fault? { last.withLock { $0 } }

    /// Keeps a fault; returns whether it is another than the last.
    func take(code: String, message: String) -> Bool {
        let fault = Fault(
            code: code, message: message, time: MonotonicClock.wallSeconds,
            clock: MonotonicClock.wallIsSynchronized ? .synchronized : .unverified)
        return last.withLock { last in
            defer { last = fault }
            return last?.code != code || last?.message != message
        }
    }
}
