import Core

/// What the recorder is about: a machine without clock, disk or threads. `take` is all that changes it.
///
/// There is one phase at a time, so that no two recordings can go on at once; those that were closed and whose text is
/// still being written are kept beside it, since they keep no new one from starting.
struct RecorderState: Hashable, Sendable {
    enum Phase: Hashable, Sendable {
        case idle
        /// The microphone is being opened, and a recording entered into the archive.
        case opening(Opening)
        case recording(Recording)
        /// It was told to end, and its file is not closed yet.
        case closing(Recording, Ending)
    }

    /// A recording that has no number yet.
    struct Opening: Hashable, Sendable {
        let attempt: Int
        let since: Duration
        /// Who waits for it to begin.
        var starts: [RecorderTicket]
        /// Somebody has stopped it already.
        var ending: Ending?
        /// Nothing of it is to be taken yet.
        var pausedSince: Duration?
    }

    struct Recording: Hashable, Sendable {
        enum Beginning: Hashable, Sendable {
            /// Nothing is in the file yet; these wait for it.
            case awaited([RecorderTicket])
            case begun
        }

        enum Disk: Hashable, Sendable {
            /// Nothing has reached it yet.
            case awaited(since: Duration)
            case written(at: Duration)
            /// Nothing reaches it any more, which was told.
            case stalled(since: Duration)
        }

        let id: Int
        var beginning: Beginning
        var disk: Disk
        var microphoneIsAlive = true
        /// Nothing is taken of it since then; nil: it is not paused.
        var pausedSince: Duration?
    }

    /// Why a recording ends, and what then.
    struct Ending: Hashable, Sendable {
        let reason: StopReason
        /// Who waits for it to be closed.
        var stops: [RecorderTicket]
        /// Another one starts then, for which these wait; nil: none does.
        var next: [RecorderTicket]?
    }

    /// The text of a closed recording, while it is being written.
    struct Text: Hashable, Sendable {
        let since: Duration
        /// Who waits for it to begin, though it is closed: how it went, its end tells.
        var starts: [RecorderTicket]
    }

    /// What is done for earlier recordings while nothing is being recorded.
    enum Upkeep: Hashable, Sendable {
        /// Nothing is left to do.
        case done
        /// There may be something, once nothing is being recorded.
        case due
        /// It is at work, and writes text down since then.
        case working(writingSince: Duration?)
        /// It was told to end.
        case breakingOff(writingSince: Duration?)
        /// It failed, and is tried again later.
        case waiting
    }

    /// Why the upkeep failed last, and how long it then waited.
    struct Setback: Hashable, Sendable {
        var error: DeviceError
        var pause: Duration
    }

    enum Export: Hashable, Sendable {
        case none
        case running(since: Duration)
        /// The stick may be unplugged.
        case done(at: Duration)
        /// A stick was plugged in that is not copied to.
        case refused(at: Duration)
    }

    enum Alarm: Hashable, Sendable {
        case quiet
        /// Something is wrong that nobody has acknowledged; the latest of it is so old.
        case raised(since: Duration, latest: Duration)
    }

    /// So long without growth, and the process is no longer alive: the ring, which holds 30 s, has nothing more to save.
    static let stallLimit = Duration.seconds(32)

    /// Decode workers that nobody needed for so long are ended.
    static let releaseDelay = Duration.seconds(30)

    var phase = Phase.idle
    /// By the recording's number.
    var texts: [Int: Text] = [:]
    var upkeep = Upkeep.due
    var setback: Setback?
    var upkeepRuns = 0
    var export = Export.none
    /// Since when a laptop is connected to the board's own port; nil while none is.
    var laptopSince: Duration?
    /// Since when something sealed is open; nil while nothing is.
    var openSince: Duration?
    var alarm = Alarm.quiet
    var lastFault: RecorderFault?
    /// When the last mark was kept.
    var markedAt: Duration?
    var button = ButtonInterpreter()
    /// Attempts to open a recording so far.
    var attempts = 0
    /// The last recording that was opened.
    var latest = 0
    /// The appliance ends: nothing is begun any more.
    var isEnding = false
}

extension RecorderState {
    /// What people are told.
    var shown: Event.State {
        switch phase {
        case .idle, .opening: isFaulted ? .faulted : .idle
        case .recording(let recording): recording.pausedSince == nil ? .recording : .paused
        case .closing: .stopping
        }
    }

    /// The recording that goes on.
    var recording: Int? {
        switch phase {
        case .idle, .opening: nil
        case .recording(let recording), .closing(let recording, _): recording.id
        }
    }

    /// Whether one goes on once all orders so far are carried out: what the next press ends.
    var records: Bool {
        switch phase {
        case .idle: false
        case .opening(let opening): opening.ending.map { $0.next != nil } ?? true
        case .recording: true
        case .closing(_, let ending): ending.next != nil
        }
    }

    /// Whether what goes on is paused: whether the next press goes on with it.
    var isPaused: Bool {
        switch phase {
        case .idle, .closing: false
        case .opening(let opening): opening.ending == nil && opening.pausedSince != nil
        case .recording(let recording): recording.pausedSince != nil
        }
    }

    /// Whether a fault is shown that waits to be acknowledged.
    var isFaulted: Bool { alarm != .quiet }

    /// Whether nothing is being recorded or transcribed.
    var isAtRest: Bool { phase == .idle && texts.isEmpty }

    /// Whether nothing is being recorded or copied to a stick, nor shown of a copy.
    func isFree(at now: Duration) -> Bool {
        switch export {
        case .none, .refused: phase == .idle
        case .running: false
        case .done(let time): phase == .idle && now - time > .seconds(4)
        }
    }

    /// Since when text is being written; nil while none is.
    var writingSince: Duration? {
        var since = texts.values.map(\.since)
        switch upkeep {
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
    /// When bytes last reached it, or when the wait for them began.
    var time: Duration {
        switch self {
        case .awaited(let since), .stalled(let since): since
        case .written(let time): time
        }
    }
}
