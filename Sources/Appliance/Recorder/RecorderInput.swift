import Core
import Maintenance

/// What the recorder's machine hears, and when that was so.
struct RecorderInput: Hashable, Sendable {
    /// How a recording does.
    struct Look: Hashable, Sendable {
        /// Monotonic time at which bytes of it last reached the disk; nil before the first.
        var grewAt: Duration?

        var microphoneIsAlive = true
    }

    /// What became of a recording, once its text has ended as well.
    enum RecordingEnd: Hashable, Sendable {
        case complete
        /// It was ended before its text was whole, or erased; nobody's fault.
        case cancelled
        /// It ended for this, which has been told as a fault.
        case broken(DeviceError)
        /// It failed for this, and nobody has been told.
        case failed(DeviceError)
    }

    typealias UpkeepEnd = Upkeep.End

    /// What a wait was for.
    enum Timer: Hashable, Sendable {
        /// Nobody needed the decode workers, where this recording was the last.
        case release(after: Int)
        /// An upkeep that failed may be tried again, where this run was the last.
        case upkeep(run: Int)
    }

    enum Kind: Hashable, Sendable {
        case started
        /// An order, for whom it was, and who waits for it.
        case order(Recorder.Order, StopReason, RecorderTicket?)
        case button(ButtonGesture.Event)
        /// The appliance ends: as a stop, and nothing is begun any more.
        case shutDown(RecorderTicket?)
        /// What `open` came to.
        case opened(attempt: Int, recording: Int)
        case refused(attempt: Int, DeviceError)
        /// The first samples of a recording are in its file.
        case begun(Int, Look)
        case looked(Int, Look)
        /// Its file is closed.
        case closed(Int)
        /// Its text has ended, too.
        case ended(Int, RecordingEnd)
        /// A mark is kept, or something was struck.
        case marked(Result<Recorder.Answer, DeviceError>, RecorderTicket?)
        /// Whatever anybody tells.
        case event(Event)
        /// Whether the upkeep writes text down now.
        case upkeepWrites(Bool)
        case upkeepEnded(UpkeepEnd)
        case due(Timer)
    }

    var kind: Kind
    var moment: RecorderMoment

    init(_ kind: Kind, at moment: RecorderMoment) {
        self.kind = kind
        self.moment = moment
    }
}
