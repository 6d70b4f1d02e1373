/// A change of the button's level.
package struct ButtonEdge: Hashable, Sendable {
    /// Whether the button is down from `time` on.
    var pressed: Bool
    /// The time on the monotonic clock.
    var time: Duration
    /// The number of edges that the kernel dropped before this one.
    var dropped: Int

    package init(pressed: Bool, time: Duration, dropped: Int = 0) {
        self.pressed = pressed
        self.time = time
        self.dropped = dropped
    }
}

/// Turns raw edges from the button into gestures.
package struct PanelButton: Sendable {
    /// An input. Inputs must be in chronological order.
    package enum Input: Hashable, Sendable {
        case edge(ButtonEdge)
        /// The current time, when no edge is pending.
        case time(Duration)

        fileprivate var timestamp: Duration {
            switch self {
            case .edge(let edge): edge.time
            case .time(let now): now
            }
        }
    }

    private var debouncer: Debouncer
    private var gesture: ButtonGesture

    /// The gestures for the level at the start, which are returned with the first input.
    private var initial: [ButtonGesture.Event]

    /// - Parameters:
    ///   - pressed: Whether the button is down at the start.
    ///   - period: How long a level must last to be stable.
    package init(
        _ settings: ButtonGesture.Settings = ButtonGesture.Settings(), pressed: Bool = false,
        period: Duration = .milliseconds(20)
    ) {
        debouncer = Debouncer(period: period, pressed: pressed)
        gesture = ButtonGesture(settings, pressed: pressed)
        initial = pressed ? [.stuck] : []
    }

    /// When to call `handle` with the time if no edge arrives first; nil if only an edge can complete a gesture.
    package var wakeAt: Duration? { initial.isEmpty ? debouncer.wakeAt ?? gesture.wakeAt : .zero }

    /// Handles an input. Returns the gestures that it completes, in order.
    package mutating func handle(_ input: Input) -> [ButtonGesture.Event] {
        var events = initial
        initial = []
        for change in debouncer.handle(input) { events += gesture.handle(.change(change)) }
        return events + gesture.handle(.time(debouncer.settledTime(at: input.timestamp)))
    }

    /// Claims the current press; see `ButtonGesture.claim`.
    package mutating func claim(at now: Duration) -> Bool { gesture.claim(at: now) }
}
