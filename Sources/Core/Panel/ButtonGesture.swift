/// Changes of the button's level in, what they mean out.
///
/// A press means what it means by its own times and by what was going on when it began, however late they are told.
/// Where a fault is shown, a press acknowledges it; while recording, it does nothing else.
package struct ButtonGesture: Hashable, Sendable {
    /// What counts as which gesture.
    package struct Settings: Hashable, Sendable {
        /// The default is `toggle`.
        package var style = PanelStyle.toggle

        /// A press that lasts this long is a hold. The default is 1 s.
        package var hold = Duration.seconds(1)

        /// Holding this long while idle shuts down; nil: it does not. The default is nil.
        package var shutdown: Duration?

        /// Three presses that begin within this time strike the last minute, in the styles `mark` and `pause`. The default is 1.2 s.
        var triple = Duration.milliseconds(1_200)

        /// A button that is down for this long is stuck. The default is 60 s.
        var stuck = Duration.seconds(60)

        package init() {}
    }

    /// What the gesture is told, in the order of time.
    enum Input: Hashable, Sendable {
        /// The level at the start; a button that is down already is stuck.
        case initial(pressed: Bool)
        case change(Debouncer.Change)
        /// So late it is, and no change will be dated before.
        case time(Duration)
        case recording(Bool)
        /// Whether the recording that goes on is paused.
        case paused(Bool)
        /// Whether a fault is shown that waits to be acknowledged.
        case fault(Bool)
    }

    /// What is to be done; times are those of the press.
    package enum Effect: Hashable, Sendable {
        /// The button went down: the lamp answers.
        case pressed(at: Duration)
        case start(at: Duration)
        case stop(at: Duration)
        case mark(at: Duration)
        /// Nothing is taken from now on. At the press itself, so that nothing is taken after it.
        case pause(at: Duration)
        case resume(at: Duration)
        /// Three presses, the first of them then: what was said before it is off the record.
        case strike(at: Duration)
        case shutDown
        /// What was shown when the press began, and nothing that came since.
        case acknowledge(at: Duration)
        /// The button does not come up; nothing more comes of it until it is free.
        case stuck
        case free
    }

    private enum Press: Hashable {
        /// While idle; the recording starts when it ends, because holding shuts down.
        case idle(since: Duration)
        case recording(since: Duration)
        /// It has paused the recording; holding stops that.
        case pausing(since: Duration)
        /// The last of three, the first of which began then: unless it is held, it strikes.
        case third(since: Duration, first: Duration)
        /// All that it means has been said.
        case spent(since: Duration)
        case stuck
    }

    private let settings: Settings
    private var press: Press?
    private var isRecording = false
    private var isPaused = false
    private var isFaulted = false
    /// When presses began that may become three.
    private var presses: [Duration] = []

    init(_ settings: Settings = Settings()) { self.settings = settings }

    /// When to call with the time, where no change comes before.
    var wakeAt: Duration? {
        switch press {
        case .idle(let since): since + min(settings.shutdown ?? settings.stuck, settings.stuck)
        case .recording(let since), .pausing(let since), .third(let since, _):
            since + min(settings.hold, settings.stuck)
        case .spent(let since): since + settings.stuck
        case .stuck, nil: nil
        }
    }

    /// Takes an input; returns what is to be done, in order.
    mutating func handle(_ input: Input) -> [Effect] {
        switch input {
        case .initial(let pressed):
            press = pressed ? .stuck : nil
            return pressed ? [.stuck] : []
        case .change(let change):
            let due = elapse(to: change.time)
            return due + (change.pressed ? begin(at: change.time) : end())
        case .time(let now): return elapse(to: now)
        case .recording(let isRecording):
            self.isRecording = isRecording
            return []
        case .paused(let isPaused):
            self.isPaused = isPaused
            return []
        case .fault(let isFaulted):
            self.isFaulted = isFaulted
            return []
        }
    }

    /// Has a press that lasts as long as a hold mean something else than its times say: nothing more comes of it.
    ///
    /// - Returns: false where there is none, where it is shorter yet, or where the button is stuck.
    mutating func claim(at now: Duration) -> Bool {
        switch press {
        case .idle(let since), .recording(let since), .pausing(let since), .third(let since, _), .spent(let since):
            guard now - since >= settings.hold else { return false }
            press = .spent(since: since)
            return true
        case .stuck, nil: return false
        }
    }

    private mutating func begin(at time: Duration) -> [Effect] {
        guard press == nil else { return [] }
        var effects = [Effect.pressed(at: time)]
        let acknowledges = isFaulted
        if acknowledges {
            effects.append(.acknowledge(at: time))
            isFaulted = false
        }
        if isRecording, acknowledges {
            press = .spent(since: time)
        } else if isRecording {
            let pauses = settings.style == .pause && !isPaused
            if pauses { effects.append(.pause(at: time)) }
            if let first = firstOfThree(at: time) {
                press = .third(since: time, first: first)
            } else {
                press = pauses ? .pausing(since: time) : .recording(since: time)
            }
        } else if settings.shutdown != nil {
            press = .idle(since: time)
        } else {
            press = .spent(since: time)
            effects.append(.start(at: time))
        }
        return effects
    }

    /// When the first of three presses began, where the one that begins now is the third.
    private mutating func firstOfThree(at time: Duration) -> Duration? {
        guard settings.style != .toggle else { return nil }
        presses = presses.filter { time - $0 <= settings.triple } + [time]
        guard presses.count == 3 else { return nil }
        defer { presses = [] }
        return presses.first
    }

    private mutating func end() -> [Effect] {
        defer { press = nil }
        return switch press {
        case .idle(let since): [.start(at: since)]
        case .recording(let since): [whenPressed(at: since)]
        case .third(_, let first): [.strike(at: first)]
        case .stuck: [.free]
        case .pausing, .spent, nil: []
        }
    }

    private func whenPressed(at time: Duration) -> Effect {
        switch settings.style {
        case .toggle: .stop(at: time)
        case .mark: .mark(at: time)
        case .pause: .resume(at: time)
        }
    }

    private func whenHeld(at time: Duration) -> Effect {
        switch settings.style {
        case .toggle: .mark(at: time)
        case .mark, .pause: .stop(at: time)
        }
    }

    /// What holding has come to by now.
    private mutating func elapse(to now: Duration) -> [Effect] {
        var effects: [Effect] = []
        while let due = wakeAt, due <= now {
            switch press {
            case .idle(let since) where settings.shutdown.map { since + $0 == due } ?? false:
                effects.append(.shutDown)
                press = .spent(since: since)
            case .recording(let since) where since + settings.hold == due,
                .pausing(let since) where since + settings.hold == due,
                .third(let since, _) where since + settings.hold == due:
                effects.append(whenHeld(at: since))
                press = .spent(since: since)
            default:
                effects.append(.stuck)
                press = .stuck
            }
        }
        return effects
    }
}
