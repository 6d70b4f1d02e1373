/// Debounces the button: converts raw edges to stable level changes.
///
/// A level is stable once it has lasted for `period`. The change has the time when the level began. Contacts that keep
/// bouncing cause no change.
struct Debouncer: Hashable, Sendable {
    struct Change: Hashable, Sendable {
        /// Whether the button is down from `time` on.
        var pressed: Bool
        var time: Duration
    }

    private(set) var pressed: Bool
    /// When the raw level began to differ from `pressed`; nil if it does not differ.
    private var since: Duration?
    private let period: Duration

    /// - Parameters:
    ///   - period: How long a level must last to be stable. The default is 20 ms.
    ///   - pressed: Whether the button is down at the start.
    init(period: Duration = .milliseconds(20), pressed: Bool = false) {
        self.period = period
        self.pressed = pressed
    }

    /// When to call `handle` with the time if no edge arrives first.
    var wakeAt: Duration? { since.map { $0 + period } }

    /// Returns the time before which no further changes will be reported.
    func settledTime(at now: Duration) -> Duration { min(now, since ?? now) }

    /// Handles an input. Returns the stable changes, in order.
    mutating func handle(_ input: PanelButton.Input) -> [Change] {
        switch input {
        case .time(let now): return settle(by: now)
        case .edge(let edge):
            let level = since == nil ? pressed : !pressed
            // If two consecutive edges have the same direction, the edge between them was lost, and it is unknown which
            // level was stable.
            let isComplete = edge.dropped == 0 && edge.pressed != level
            let changes = isComplete ? settle(by: edge.time) : []
            since = edge.pressed == pressed ? nil : edge.time
            return changes
        }
    }

    private mutating func settle(by now: Duration) -> [Change] {
        guard let since, now - since >= period else { return [] }
        pressed.toggle()
        self.since = nil
        return [Change(pressed: pressed, time: since)]
    }
}
