/// Turns changes of the button's level into the gestures of a single press. `ButtonInterpreter` counts presses and
/// decides what they mean. Gestures depend only on the timestamps of the changes, however late the changes arrive.
package struct ButtonGesture: Sendable {
    /// The durations that distinguish gestures.
    package struct Settings: Hashable, Sendable {
        /// How long a press must last to be a hold. The default is 1 s.
        package var hold = Duration.seconds(1)

        /// How long a press must last to be a long hold; nil (the default) to report no long holds.
        package var longHold: Duration?

        /// How long the button must be down to be considered stuck. The default is 60 s.
        var stuck = Duration.seconds(60)

        package init() {}
    }

    /// An input. Inputs must be in chronological order.
    enum Input: Hashable, Sendable {
        case change(Debouncer.Change)
        /// The current time. No change with an earlier timestamp will follow.
        case time(Duration)
    }

    /// A gesture.
    package enum Event: Hashable, Sendable {
        case pressed(at: Duration)
        /// The button is still down after `Settings.hold`.
        case held
        /// The button is still down after `Settings.longHold`.
        case heldLong
        case released
        /// The button is stuck. No other gesture is reported until `unstuck`.
        case stuck
        case unstuck
    }

    private struct Threshold: Hashable {
        let after: Duration
        let event: Event
    }

    private struct Press: Hashable {
        let since: Duration
        /// The events to report if the press lasts, in chronological order; empty once the button is stuck.
        var remaining: [Threshold]
        var isClaimed = false
    }

    private let settings: Settings
    private var press: Press?

    /// - Parameter pressed: Whether the button is down at the start; if so, it is stuck.
    init(_ settings: Settings = Settings(), pressed: Bool = false) {
        self.settings = settings
        press = pressed ? Press(since: .zero, remaining: []) : nil
    }

    /// When to call `handle` with the time if no change arrives first.
    var wakeAt: Duration? {
        guard let press, let next = press.remaining.first else { return nil }
        return press.since + next.after
    }

    mutating func handle(_ input: Input) -> [Event] {
        switch input {
        case .time(let now): return elapse(to: now)
        case .change(let change):
            let due = elapse(to: change.time)
            return due + (change.pressed ? begin(at: change.time) : end())
        }
    }

    /// Claims the current press for another purpose if it has lasted as long as a hold. No further gestures are
    /// reported for the press unless the button gets stuck.
    ///
    /// - Returns: False if there is no press, if the press is too short, or if the button is stuck.
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
        if press.remaining.isEmpty { return [.unstuck] }
        return press.isClaimed ? [] : [.released]
    }

    private mutating func elapse(to now: Duration) -> [Event] {
        var events: [Event] = []
        while let due = wakeAt, due <= now, let event = press?.remaining.removeFirst().event { events.append(event) }
        return events
    }
}
