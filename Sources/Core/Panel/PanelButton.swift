/// A change of the button's level.
package struct ButtonEdge: Hashable, Sendable {
    /// Whether the button is down since `time`.
    var pressed: Bool
    /// On the monotonic clock.
    var time: Duration
    /// Edges that the kernel dropped before this one.
    var dropped: Int

    package init(pressed: Bool, time: Duration, dropped: Int = 0) {
        self.pressed = pressed
        self.time = time
        self.dropped = dropped
    }
}

/// Turns raw edges of the button into gestures: a debouncer and a gesture on one clock.
package struct PanelButton: Sendable {
    /// What the button reads, in chronological order.
    package enum Input: Hashable, Sendable {
        case edge(ButtonEdge)
        /// The current time, if no edge is waiting.
        case time(Duration)

        /// The time of the edge, or now.
        fileprivate var date: Duration {
            switch self {
            case .edge(let edge): edge.time
            case .time(let now): now
            }
        }
    }

    private var debouncer: Debouncer
    private var gesture: ButtonGesture

    /// What the level at the start means; reported with the first input.
    private var initial: [ButtonGesture.Event]

    /// - Parameters:
    ///   - pressed: The level at the start.
    ///   - period: How long a level has to last to count.
    package init(
        _ settings: ButtonGesture.Settings = ButtonGesture.Settings(), pressed: Bool = false,
        period: Duration = .milliseconds(20)
    ) {
        debouncer = Debouncer(period: period, pressed: pressed)
        gesture = ButtonGesture(settings, pressed: pressed)
        initial = pressed ? [.stuck] : []
    }

    /// When to call with the time if no edge comes first; nil if only an edge can change anything.
    package var wakeAt: Duration? { initial.isEmpty ? debouncer.wakeAt ?? gesture.wakeAt : .zero }

    /// Returns the gestures that an input completes, in order.
    package mutating func handle(_ input: Input) -> [ButtonGesture.Event] {
        var events = initial
        initial = []
        for change in debouncer.handle(input) { events += gesture.handle(.change(change)) }
        return events + gesture.handle(.time(debouncer.certain(at: input.date)))
    }

    /// See `ButtonGesture.claim`.
    package mutating func claim(at now: Duration) -> Bool { gesture.claim(at: now) }
}
