import Core
import System

/// A time as `RecorderState` gets it, which reads no clock itself.
struct RecorderMoment: Hashable, Sendable {
    /// Since power-on; all waits are measured by it.
    var monotonic: Duration

    /// Seconds since 1970 by the wall clock, and whether that clock was set.
    var wallSeconds = 0.0
    var clock = RecordingSummary.Clock.unverified

    static var now: RecorderMoment {
        RecorderMoment(
            monotonic: .nanoseconds(MonotonicClock.nanoseconds), wallSeconds: MonotonicClock.wallSeconds,
            clock: MonotonicClock.wallIsSynchronized ? .synchronized : .unverified)
    }
}
