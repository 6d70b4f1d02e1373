/// Raw edges of the button in, what they mean out: a debouncer and a gesture that keep to one time.
package struct PanelButton: Hashable, Sendable {
    /// What the button is told, in the order of time.
    package enum Input: Hashable, Sendable {
        case edge(ButtonEdge)
        /// So late it is, and no edge is waiting.
        case time(Duration)
        case recording(Bool)
        /// Whether the recording that goes on is paused.
        case paused(Bool)
        /// Whether a fault is shown that waits to be acknowledged.
        case fault(Bool)
    }

    private var debouncer: Debouncer
    private var gesture: ButtonGesture

    /// What the level at the start came to; told with the first input.
    private var atStart: [ButtonGesture.Effect]

    /// - Parameters:
    ///   - pressed: the level at the start.
    ///   - period: how long a level has to last to count.
    package init(
        _ settings: ButtonGesture.Settings = ButtonGesture.Settings(), pressed: Bool = false,
        period: Duration = .milliseconds(20)
    ) {
        debouncer = Debouncer(period: period, pressed: pressed)
        gesture = ButtonGesture(settings)
        atStart = gesture.handle(.initial(pressed: pressed))
    }

    /// When to call with the time, where no edge comes before; nil where only an edge can change anything.
    package var wakeAt: Duration? { atStart.isEmpty ? debouncer.wakeAt ?? gesture.wakeAt : .zero }

    /// Takes an input; returns what is to be done, in order.
    package mutating func handle(_ input: Input) -> [ButtonGesture.Effect] {
        defer { atStart = [] }
        switch input {
        case .edge(let edge): return atStart + advance(.edge(edge), to: edge.time)
        case .time(let now): return atStart + advance(.time(now), to: now)
        case .recording(let isRecording): return atStart + gesture.handle(.recording(isRecording))
        case .paused(let isPaused): return atStart + gesture.handle(.paused(isPaused))
        case .fault(let isFaulted): return atStart + gesture.handle(.fault(isFaulted))
        }
    }

    /// As `ButtonGesture.claim`.
    package mutating func claim(at now: Duration) -> Bool { gesture.claim(at: now) }

    private mutating func advance(_ input: Debouncer.Input, to now: Duration) -> [ButtonGesture.Effect] {
        var effects: [ButtonGesture.Effect] = []
        for change in debouncer.handle(input) { effects += gesture.handle(.change(change)) }
        return effects + gesture.handle(.time(debouncer.certain(at: now)))
    }
}
