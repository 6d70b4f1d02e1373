/// Raw edges in, changes of the level that lasted out.
///
/// A level counts once it has lasted for `period`; the change is dated to the edge that began it. Contacts that never
/// come to rest change nothing.
struct Debouncer: Hashable, Sendable {
    /// A change of the level that lasted.
    struct Change: Hashable, Sendable {
        /// Whether the button is down from `time`.
        var pressed: Bool

        /// When the level began to last.
        var time: Duration

        init(pressed: Bool, time: Duration) {
            self.pressed = pressed
            self.time = time
        }
    }

    /// What the debouncer is told, in the order of time.
    enum Input: Hashable, Sendable {
        case edge(ButtonEdge)
        /// So late it is, and no edge is waiting.
        case time(Duration)
    }

    /// The level that lasted last.
    private(set) var pressed: Bool

    /// Since when the contacts have another level; nil while they have that one.
    private var since: Duration?
    private let period: Duration

    /// - Parameters:
    ///   - period: how long a level has to last. The default is 20 ms.
    ///   - pressed: the level at the start.
    init(period: Duration = .milliseconds(20), pressed: Bool = false) {
        self.period = period
        self.pressed = pressed
    }

    /// When to call with the time, where no edge comes before.
    var wakeAt: Duration? { since.map { $0 + period } }

    /// No change will be dated before this moment any more.
    func certain(at now: Duration) -> Duration { min(now, since ?? now) }

    /// Takes an input; returns the changes that have lasted by now, in order.
    mutating func handle(_ input: Input) -> [Change] {
        switch input {
        case .time(let now): return settle(by: now)
        case .edge(let edge):
            let level = since == nil ? pressed : !pressed
            // Between two edges of one kind another was lost, so that nobody knows what lasted.
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
