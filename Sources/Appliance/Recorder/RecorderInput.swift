import Core
import Maintenance
import System

/// An input for `RecorderState`, with its time.
struct RecorderInput: Hashable, Sendable {
    /// The health of a recording.
    struct HealthCheck: Hashable, Sendable {
        /// The monotonic time at which bytes last reached the disk; nil if none have.
        var syncedAt: Duration?

        var microphoneIsAlive = true
    }

    /// How a recording and its transcription ended.
    enum RecordingEnd: Hashable, Sendable {
        case complete
        /// The recording was erased, or its task was cancelled.
        case cancelled
        /// An error ended the recording. `isPublished` says whether the fault is already published.
        case failed(DeviceError, isPublished: Bool)
    }

    enum Timer: Hashable, Sendable {
        /// The decode workers may be stopped if this recording is still the latest.
        case release(after: Int)
        /// Failed maintenance may be retried if this run is still the latest.
        case maintenance(run: Int)
    }

    enum Kind: Hashable, Sendable {
        case started
        /// A command, and the caller that waits for the answer; nil if nobody waits.
        case command(RecorderCommand, RecorderTicket?)
        case button(ButtonGesture.Event)
        /// The appliance is shutting down: the recording is stopped, and no other can start.
        case shutDown(RecorderTicket?)
        /// The microphone is open, and the recording is in the archive.
        case opened(attempt: Int, recording: Int)
        /// The recording could not be opened.
        case openFailed(attempt: Int, DeviceError)
        /// The first samples of a recording are in its file.
        case begun(Int, HealthCheck)
        case checked(Int, HealthCheck)
        /// The recording's file is closed.
        case closed(Int)
        /// The recording and its transcription have ended.
        case ended(Int, RecordingEnd)
        /// A mark is saved, or a redaction is done.
        case marked(Result<Recorder.Answer, DeviceError>, RecorderTicket?)
        /// An event that was published elsewhere.
        case event(Event)
        /// A file was added as a recording and has to be transcribed.
        case added(Int)
        /// Maintenance has begun or stopped transcribing.
        case maintenanceTranscribes(Bool)
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

/// The time of an input. `RecorderState` itself reads no clock.
struct RecorderMoment: Hashable, Sendable {
    /// The time since power-on. All waits are measured with it.
    var monotonic: Duration

    /// Seconds since 1970 on the wall clock. `clock` says whether that clock was set.
    var wallSeconds = 0.0
    var clock = RecordingSummary.Clock.unverified

    static var now: RecorderMoment {
        RecorderMoment(
            monotonic: .nanoseconds(MonotonicClock.nanoseconds), wallSeconds: MonotonicClock.wallSeconds,
            clock: MonotonicClock.wallIsSynchronized ? .synchronized : .unverified)
    }
}

/// Identifies a caller that waits for the result of a command. Each caller is answered once.
struct RecorderTicket: Hashable, Sendable {
    var id: Int
}
