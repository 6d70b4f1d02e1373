import Core
import System

/// When something was so: time is a value to the recorder's machine, which asks no clock.
struct RecorderMoment: Hashable, Sendable {
    /// Since the machine was switched on; what all waiting is counted by.
    var monotonic: Duration

    /// By the wall clock, in seconds since 1970, and whether that clock was set.
    var wallSeconds = 0.0
    var clock = RecordingSummary.Clock.unverified

    static var now: RecorderMoment {
        RecorderMoment(
            monotonic: .nanoseconds(MonotonicClock.nanoseconds), wallSeconds: MonotonicClock.wallSeconds,
            clock: MonotonicClock.wallIsSynchronized ? .synchronized : .unverified)
    }
}
