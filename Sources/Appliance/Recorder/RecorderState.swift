import Core

/// The recorder's state machine, without clock, disk or threads. Only `handle` changes it.
///
/// There is one phase at a time, so that two recordings at once cannot be expressed. Closed recordings that are still being
/// transcribed are in `texts`, since a new one can start meanwhile.
struct RecorderState: Hashable, Sendable {
    enum Phase: Hashable, Sendable {
        case idle
        /// The microphone is being opened, and a recording added to the archive.
        case opening(Opening)
        case recording(Recording)
        /// The recording is ending; its file is not closed yet.
        case closing(Recording, Ending)
    }

    /// A recording that has no number yet.
    struct Opening: Hashable, Sendable {
        let attempt: Int
        let since: Duration
        /// Waiting for it to begin.
        var starts: [RecorderTicket]
        /// It is already stopped.
        var ending: Ending?
        /// It begins paused.
        var pausedSince: Duration?
        /// Pauses and resumes that wait for it to be opened.
        var pauses: [PauseOrder] = []
    }

    /// A pause or resume before the recording has a number.
    struct PauseOrder: Hashable, Sendable {
        let ticket: RecorderTicket
        let change: OrderChange?
    }

    struct Recording: Hashable, Sendable {
        enum Beginning: Hashable, Sendable {
            /// The file is still empty; these wait for the first samples.
            case awaited([RecorderTicket])
            case begun
        }

        enum Disk: Hashable, Sendable {
            /// No bytes have reached the disk yet.
            case awaited(since: Duration)
            case written(at: Duration)
            /// No bytes reach the disk any more; the fault is raised.
            case stalled(since: Duration)
        }

        let id: Int
        var beginning: Beginning
        var disk: Disk
        var microphoneIsAlive = true
        /// Nil: not paused.
        var pausedSince: Duration?
    }

    /// Why a recording ends, and what follows.
    struct Ending: Hashable, Sendable {
        let reason: StopReason
        /// Waiting for it to be closed.
        var stops: [RecorderTicket]
        /// Waiting for the next recording, which starts then; nil without one.
        var next: [RecorderTicket]?
    }

    /// The transcription of a closed recording that is still running.
    struct Text: Hashable, Sendable {
        let since: Duration
        /// Waiting for it to begin although it is closed: `ended` answers them.
        var starts: [RecorderTicket]
    }

    /// Maintenance of earlier recordings, while nothing is being recorded.
    enum Maintenance: Hashable, Sendable {
        case done
        /// Starts once nothing is being recorded.
        case due
        /// Running; writing text since then.
        case working(writingSince: Duration?)
        /// Running, and asked to end.
        case breakingOff(writingSince: Duration?)
        /// Failed; tried again later.
        case waiting
    }

    /// Maintenance's last failure, and the pause after it.
    struct Setback: Hashable, Sendable {
        var error: DeviceError
        var pause: Duration
    }

    enum Export: Hashable, Sendable {
        case none
        case running(since: Duration)
        /// The stick may be removed.
        case done(at: Duration)
        /// A stick that is not allowed was plugged in.
        case refused(at: Duration)
    }

    enum Alarm: Hashable, Sendable {
        case quiet
        /// When the first and the latest unacknowledged fault occurred.
        case raised(since: Duration, latest: Duration)
    }

    /// After this time without progress the process counts as hung: the ring, which holds 30 s, is full.
    static let stallLimit = Duration.seconds(32)

    /// Decode workers that are idle for this long are ended.
    static let releaseDelay = Duration.seconds(30)

    var phase = Phase.idle
    /// By the recording's number.
    var texts: [Int: Text] = [:]
    var maintenance = Maintenance.due
    var setback: Setback?
    var maintenanceRuns = 0
    var export = Export.none
    /// When a laptop was connected to the board's own USB port; nil if none is.
    var laptopSince: Duration?
    /// When sealed recordings were opened; nil if none are open.
    var openSince: Duration?
    var alarm = Alarm.quiet
    var lastFault: RecorderFault?
    /// When the last mark or redaction was saved.
    var markedAt: Duration?
    var button = ButtonInterpreter()
    /// Attempts to open a recording so far.
    var attempts = 0
    /// The last recording that was opened.
    var latest = 0
    /// The appliance is shutting down; nothing else starts.
    var isEnding = false
}

extension RecorderState {
    /// The state as it is published.
    var shown: Event.State {
        switch phase {
        case .idle, .opening: isFaulted ? .faulted : .idle
        case .recording(let recording): recording.pausedSince == nil ? .recording : .paused
        case .closing: .stopping
        }
    }

    /// The current recording.
    var recording: Int? {
        switch phase {
        case .idle, .opening: nil
        case .recording(let recording), .closing(let recording, _): recording.id
        }
    }

    /// Whether a recording runs once all orders so far are performed.
    var records: Bool {
        switch phase {
        case .idle: false
        case .opening(let opening): opening.ending.map { $0.next != nil } ?? true
        case .recording: true
        case .closing(_, let ending): ending.next != nil
        }
    }

    var isPaused: Bool {
        switch phase {
        case .idle, .closing: false
        case .opening(let opening): opening.ending == nil && opening.pausedSince != nil
        case .recording(let recording): recording.pausedSince != nil
        }
    }

    var isFaulted: Bool { alarm != .quiet }

    /// The state of a recording, or without a number of the recorder, as answers name it.
    func state(of id: Int?) -> Event.State {
        if id == nil || id == recording { return shown }
        return isFaulted ? .faulted : .idle
    }

    /// Whether nothing is being recorded or transcribed.
    var isIdle: Bool { phase == .idle && texts.isEmpty }

    /// Whether nothing is being recorded or copied to a stick, and the lamp shows no finished copy.
    func isFree(at now: Duration) -> Bool {
        switch export {
        case .none, .refused: phase == .idle
        case .running: false
        case .done(let time): phase == .idle && now - time > .seconds(4)
        }
    }

    /// When writing of the current text began.
    var writingSince: Duration? {
        var since = texts.values.map(\.since)
        switch maintenance {
        case .working(let writing), .breakingOff(let writing): if let writing { since.append(writing) }
        case .done, .due, .waiting: break
        }
        return since.min()
    }

    /// Whether, while recording, bytes reach the disk.
    func isAlive(at now: Duration) -> Bool {
        switch phase {
        case .idle: true
        case .opening(let opening): now - opening.since < Self.stallLimit
        case .recording(let recording), .closing(let recording, _):
            recording.pausedSince != nil || now - recording.disk.time < Self.stallLimit
        }
    }
}

extension RecorderState.Recording.Disk {
    /// When bytes last reached the disk, or when the wait for them began.
    var time: Duration {
        switch self {
        case .awaited(let since), .stalled(let since): since
        case .written(let time): time
        }
    }
}
