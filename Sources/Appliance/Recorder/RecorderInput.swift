import Core
import Maintenance

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

    typealias MaintenanceEnd = BackgroundMaintenance.End

    /// The purpose of a timer.
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
        case maintenanceEnded(MaintenanceEnd)
        case due(Timer)
    }

    var kind: Kind
    var moment: RecorderMoment

    init(_ kind: Kind, at moment: RecorderMoment) {
        self.kind = kind
        self.moment = moment
    }
}
