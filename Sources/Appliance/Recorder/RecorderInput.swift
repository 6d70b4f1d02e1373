import Core
import Maintenance
import System

/// An input of `RecorderState`, with its time.
struct RecorderInput: Hashable, Sendable {
    /// The health of a recording.
    struct HealthCheck: Hashable, Sendable {
        /// Monotonic time at which bytes last reached the disk; nil before the first.
        var grewAt: Duration?

        var microphoneIsAlive = true
    }

    /// How a recording and its transcription ended.
    enum RecordingEnd: Hashable, Sendable {
        case complete
        /// The transcription was cancelled, or the recording was erased.
        case cancelled
        /// The recording was interrupted by this error; the fault is already published.
        case broken(DeviceError)
        /// The recording failed; the fault is not published yet.
        case failed(DeviceError)
    }

    enum Timer: Hashable, Sendable {
        /// The decode workers may be ended if this recording is still the last.
        case release(after: Int)
        /// Failed maintenance may be retried if this run is still the last.
        case maintenance(run: Int)
    }

    enum Kind: Hashable, Sendable {
        case started
        /// An order, and the caller that waits for the answer.
        case order(RecorderOrder, RecorderTicket?)
        case button(ButtonGesture.Event)
        /// The appliance is shutting down: the recording is stopped, and no other can start.
        case shutDown(RecorderTicket?)
        /// The answers to `open`.
        case opened(attempt: Int, recording: Int)
        case refused(attempt: Int, DeviceError)
        /// The first samples of a recording are in its file.
        case begun(Int, HealthCheck)
        case checked(Int, HealthCheck)
        /// The recording's file is closed.
        case closed(Int)
        /// The transcription has ended, too.
        case ended(Int, RecordingEnd)
        /// A mark is saved, or a redaction is done.
        case marked(Result<Recorder.Answer, DeviceError>, RecorderTicket?)
        /// An event published elsewhere.
        case event(Event)
        /// A file was added as a recording, which waits for its text.
        case added(Int)
        /// Whether maintenance is writing text now.
        case maintenanceWrites(Bool)
        case maintenanceEnded(BackgroundMaintenance.End)
        case due(Timer)
    }

    var kind: Kind
    var moment: RecorderMoment

    init(_ kind: Kind, at moment: RecorderMoment) {
        self.kind = kind
        self.moment = moment
    }
}

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

/// Identifies a caller that waits for the result of an order; each is answered once.
struct RecorderTicket: Hashable, Sendable {
    var number: Int
}
