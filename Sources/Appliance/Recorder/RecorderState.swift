import Core

/// The recorder's state machine, with no clock, disk or threads. While the recorder runs, only `handle` changes it.
///
/// There is only one phase at a time, so two simultaneous recordings cannot be represented. A new recording can start
/// while closed ones are still being transcribed; those are in `transcriptions`.
struct RecorderState: Hashable, Sendable {
    enum Phase: Hashable, Sendable {
        case idle
        /// The microphone is being opened and a recording is being added to the archive.
        case opening(Opening)
        case recording(Recording)
        /// The recording was stopped, but its file is not closed yet.
        case closing(Recording, Ending)
    }

    /// A recording that does not have a number yet.
    struct Opening: Hashable, Sendable {
        let attempt: Int
        let since: Duration
        /// The callers that wait for the recording to begin.
        var starts: [RecorderTicket]
        /// Set if the recording has already been stopped.
        var ending: Ending?
        /// Set if the recording begins paused.
        var pausedSince: Duration?
        /// Pause and resume commands whose callers wait until the recording is opened.
        var pauses: [PauseRequest] = []
    }

    /// A pause or resume command that arrived before the recording had a number.
    struct PauseRequest: Hashable, Sendable {
        let ticket: RecorderTicket
        let change: RecorderChange?
    }

    struct Recording: Hashable, Sendable {
        enum Beginning: Hashable, Sendable {
            /// The file is still empty, and these callers wait for the first samples.
            case awaited([RecorderTicket])
            case begun
        }

        enum Disk: Hashable, Sendable {
            /// No bytes have reached the disk since the recording began or was resumed at this time.
            case awaited(since: Duration)
            case written(at: Duration)
            /// No bytes have reached the disk since this time, and a fault was raised.
            case stalled(since: Duration)
        }

        let id: Int
        var beginning: Beginning
        var disk: Disk
        var microphoneIsAlive = true
        /// Nil if the recording is not paused.
        var pausedSince: Duration?
    }

    /// Why a recording is being stopped, and what follows.
    struct Ending: Hashable, Sendable {
        let reason: StopReason
        /// The callers that wait until the recording is closed.
        var stops: [RecorderTicket]
        /// The callers that wait for the next recording, which starts afterwards; nil if none was requested.
        var next: [RecorderTicket]?
    }

    /// The running transcription of a closed recording.
    struct Transcription: Hashable, Sendable {
        let since: Duration
        /// The callers that still wait for the recording to begin, although it is closed. `begun` or `ended` answers
        /// them.
        var starts: [RecorderTicket]
    }

    /// The state of the maintenance of earlier recordings, which runs while nothing is being recorded.
    enum Maintenance: Hashable, Sendable {
        case done
        /// Starts once nothing is being recorded or transcribed.
        case due
        /// Running, and transcribing since this time; nil if not transcribing.
        case working(transcribingSince: Duration?)
        /// Running, and asked to stop.
        case interrupting(transcribingSince: Duration?)
        /// Failed, and will be retried later.
        case waiting
    }

    /// The last failure of maintenance, and the pause after it.
    struct MaintenanceFailure: Hashable, Sendable {
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
        /// The times of the first and the latest unacknowledged fault.
        case raised(since: Duration, latest: Duration)
    }

    /// After this time without progress, the process counts as hung: the ring buffer, which holds 30 s, is full.
    static let stallLimit = Duration.seconds(32)

    /// Decode workers are stopped after being idle for this long.
    static let releaseDelay = Duration.seconds(30)

    var phase = Phase.idle
    var transcriptions: [Int: Transcription] = [:]
    var maintenance = Maintenance.due
    var lastFailure: MaintenanceFailure?
    var maintenanceRuns = 0
    var export = Export.none
    /// When a laptop was connected to the board's own USB port; nil if none is connected.
    var laptopSince: Duration?
    /// When sealed recordings were opened; nil if none are open.
    var openSince: Duration?
    var alarm = Alarm.quiet
    var lastFault: RecorderFault?
    /// When the last mark or redaction was saved.
    var markedAt: Duration?
    var button = ButtonInterpreter()
    var attempts = 0
    var latestRecording = 0
    /// Whether the appliance is shutting down, so that nothing else starts.
    var isEnding = false
}

extension RecorderState {
    var publishedState: Event.State {
        switch phase {
        case .idle, .opening: isFaulted ? .faulted : .idle
        case .recording(let recording): recording.pausedSince == nil ? .recording : .paused
        case .closing: .stopping
        }
    }

    var recording: Int? {
        switch phase {
        case .idle, .opening: nil
        case .recording(let recording), .closing(let recording, _): recording.id
        }
    }

    /// Whether a recording will be running once all commands so far have been performed.
    var willBeRecording: Bool {
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

    /// Returns the state for an answer: of a recording, or of the recorder if `id` is nil.
    func state(of id: Int?) -> Event.State {
        if id == nil || id == recording { return publishedState }
        return isFaulted ? .faulted : .idle
    }

    /// Whether nothing is being recorded or transcribed.
    var isIdle: Bool { phase == .idle && transcriptions.isEmpty }

    /// Returns whether nothing is being recorded or copied, and the lamp no longer shows a finished copy.
    func canRestart(at now: Duration) -> Bool {
        switch export {
        case .none, .refused: phase == .idle
        case .running: false
        case .done(let time): phase == .idle && now - time > .seconds(4)
        }
    }

    /// When the first of the running transcriptions began; nil if none is running.
    var transcribingSince: Duration? {
        var since = transcriptions.values.map(\.since)
        switch maintenance {
        case .working(let began), .interrupting(let began): if let began { since.append(began) }
        case .done, .due, .waiting: break
        }
        return since.min()
    }

    /// Returns whether bytes reach the disk. True if nothing is being recorded, or if the recording is paused.
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
