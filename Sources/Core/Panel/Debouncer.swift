/// Debounces the button: receives raw edges, returns lasting level changes.
///
/// A level counts once it has lasted for `period`; the change is dated to its first edge. Contacts that keep bouncing
/// change nothing.
struct Debouncer: Hashable, Sendable {
    struct Change: Hashable, Sendable {
        /// Whether the button is down from `time`.
        var pressed: Bool
        /// When the level began to last.
        var time: Duration
    }

    private(set) var pressed: Bool
    /// When the raw level began to differ; nil while it does not.
    private var since: Duration?
    private let period: Duration

    /// - Parameters:
    ///   - period: How long a level has to last. The default is 20 ms.
    ///   - pressed: The level at the start.
    init(period: Duration = .milliseconds(20), pressed: Bool = false) {
        self.period = period
        self.pressed = pressed
    }

    /// When to call with the time if no edge comes first.
    var wakeAt: Duration? { since.map { $0 + period } }

    /// The time before which no further change will be dated.
    func certain(at now: Duration) -> Duration { min(now, since ?? now) }

    /// Handles an input; returns the lasting changes, in order.
    mutating func handle(_ input: PanelButton.Input) -> [Change] {
        switch input {
        case .time(let now): return settle(by: now)
        case .edge(let edge):
            let level = since == nil ? pressed : !pressed
            // Two edges of one kind in a row: the one between was lost, so it is unknown which level lasted.
            let isWhole = edge.dropped == 0 && edge.pressed != level
            let changes = isWhole ? settle(by: edge.time) : []
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
