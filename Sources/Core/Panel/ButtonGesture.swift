/// Turns changes of the button's level into gestures of one press; `ButtonInterpreter` counts presses and decides what
/// they mean. Gestures depend only on the times of the changes, however late those arrive.
package struct ButtonGesture: Sendable {
    /// The durations that distinguish gestures.
    package struct Settings: Hashable, Sendable {
        /// A press that lasts this long is held. The default is 1 s.
        package var hold = Duration.seconds(1)

        /// A press that lasts this long is a long hold; nil (the default) for no such report.
        package var longHold: Duration?

        /// A button that is down this long is stuck. The default is 60 s.
        var stuck = Duration.seconds(60)

        package init() {}
    }

    /// What the gesture reads, in chronological order.
    enum Input: Hashable, Sendable {
        case change(Debouncer.Change)
        /// The current time; no later change has an earlier one.
        case time(Duration)
    }

    /// What the button does.
    package enum Event: Hashable, Sendable {
        case pressed(at: Duration)
        /// Still down after `hold`.
        case held
        /// Still down after `longHold`.
        case heldLong
        case released
        /// The button is stuck. Only `free` follows.
        case stuck
        case free
    }

    private struct Threshold: Hashable {
        let after: Duration
        let event: Event
    }

    private struct Press: Hashable {
        let since: Duration
        /// The gestures that the press becomes if it lasts, in chronological order; empty once it is stuck.
        var remaining: [Threshold]
        var isClaimed = false
    }

    private let settings: Settings
    private var press: Press?

    /// - Parameter pressed: the level at the start; a button that is already down is stuck.
    init(_ settings: Settings = Settings(), pressed: Bool = false) {
        self.settings = settings
        press = pressed ? Press(since: .zero, remaining: []) : nil
    }

    /// When to call with the time if no change comes first.
    var wakeAt: Duration? {
        guard let press, let next = press.remaining.first else { return nil }
        return press.since + next.after
    }

    /// Returns the gestures that an input completes, in order.
    mutating func handle(_ input: Input) -> [Event] {
        switch input {
        case .time(let now): return elapse(to: now)
        case .change(let change):
            let due = elapse(to: change.time)
            return due + (change.pressed ? begin(at: change.time) : end())
        }
    }

    /// Claims the current press for another purpose if it has lasted as long as a hold. It then reports nothing more, unless it gets stuck.
    ///
    /// - Returns: false if there is no press, if it is too short, or if the button is stuck.
    mutating func claim(at now: Duration) -> Bool {
        guard let press, let last = press.remaining.last, now - press.since >= settings.hold else { return false }
        self.press = Press(since: press.since, remaining: [last], isClaimed: true)
        return true
    }

    private mutating func begin(at time: Duration) -> [Event] {
        guard press == nil else { return [] }
        var thresholds = [Threshold(after: settings.hold, event: .held)]
        if let longHold = settings.longHold { thresholds.append(Threshold(after: longHold, event: .heldLong)) }
        thresholds = thresholds.filter { $0.after <= settings.stuck }.sorted { $0.after < $1.after }
        press = Press(since: time, remaining: thresholds + [Threshold(after: settings.stuck, event: .stuck)])
        return [.pressed(at: time)]
    }

    private mutating func end() -> [Event] {
        defer { press = nil }
        guard let press else { return [] }
        if press.remaining.isEmpty { return [.free] }
        return press.isClaimed ? [] : [.released]
    }

    private mutating func elapse(to now: Duration) -> [Event] {
        var events: [Event] = []
        while let due = wakeAt, due <= now, let event = press?.remaining.removeFirst().event { events.append(event) }
        return events
    }
}
