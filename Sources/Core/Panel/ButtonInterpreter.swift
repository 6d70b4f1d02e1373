/// The meaning of a press while recording.
package enum PanelStyle: String, Sendable, CaseIterable {
    /// A press stops the recording; holding sets a bookmark.
    case toggle
    /// A press sets a bookmark; holding stops the recording.
    case mark
    /// A press pauses or resumes the recording; holding stops it.
    case pause
}

/// Decides what the button's gestures mean. The decision depends on the style, the previous presses, and the recorder's
/// state when a press begins.
///
/// While a fault is shown, a press acknowledges it. During a recording, that press does nothing else.
package struct ButtonInterpreter: Hashable, Sendable {
    /// An action to perform. Times are when the press began.
    package enum Action: Hashable, Sendable {
        case start(at: Duration)
        case stop(at: Duration)
        case mark(at: Duration)
        /// Reported immediately when the button is pressed, so that nothing after the press is recorded.
        case pause(at: Duration)
        case resume(at: Duration)
        /// Redacts the minute before the first of three presses, which began at this time.
        case redact(at: Duration)
        case shutDown
        /// Acknowledges the fault that was shown when the press began, but no later faults.
        case acknowledge(at: Duration)
        case stuck
        case unstuck
    }

    private enum Press: Hashable {
        /// A press while idle, if a long hold shuts down. The recording starts on release.
        case idle(since: Duration)
        case recording(since: Duration)
        /// The press has paused the recording; holding stops it.
        case pausing(since: Duration)
        /// The third of three quick presses. It redacts unless it is held.
        case third(since: Duration, first: Duration)
    }

    /// In the styles `mark` and `pause`, three presses that begin within this time redact the last minute.
    private static let tripleDuration = Duration.milliseconds(1_200)

    private let style: PanelStyle
    private let shutsDown: Bool
    /// Nil if there is no press, or once it has taken effect.
    private var press: Press?
    /// The start times of presses that may become a triple press.
    private var presses: [Duration] = []

    /// - Parameter shutsDown: Whether a long hold while idle shuts the machine down.
    package init(_ style: PanelStyle = .toggle, shutsDown: Bool = false) {
        self.style = style
        self.shutsDown = shutsDown
    }

    /// Handles a gesture. Returns the actions to perform, in order.
    ///
    /// - Parameters:
    ///   - isRecording: Whether a recording will be running once all actions so far are performed.
    ///   - isFaulted: Whether a fault is shown that has not been acknowledged yet.
    package mutating func handle(
        _ event: ButtonGesture.Event, isRecording: Bool, isPaused: Bool = false, isFaulted: Bool = false
    ) -> [Action] {
        switch event {
        case .pressed(let time):
            return begin(at: time, isRecording: isRecording, isPaused: isPaused, isFaulted: isFaulted)
        case .held: return held()
        case .heldLong:
            guard case .idle = press else { return [] }
            press = nil
            return [.shutDown]
        case .released: return released()
        case .stuck:
            press = nil
            return [.stuck]
        case .unstuck: return [.unstuck]
        }
    }

    private mutating func begin(at time: Duration, isRecording: Bool, isPaused: Bool, isFaulted: Bool) -> [Action] {
        press = nil
        var actions: [Action] = isFaulted ? [.acknowledge(at: time)] : []
        guard isRecording else {
            if shutsDown { press = .idle(since: time) } else { actions.append(.start(at: time)) }
            return actions
        }
        if isFaulted { return actions }
        let pauses = style == .pause && !isPaused
        if pauses { actions.append(.pause(at: time)) }
        if let first = firstOfThree(at: time) {
            press = .third(since: time, first: first)
        } else {
            press = pauses ? .pausing(since: time) : .recording(since: time)
        }
        return actions
    }

    /// Returns when the first of three presses began if the press at `time` is the third; otherwise nil.
    private mutating func firstOfThree(at time: Duration) -> Duration? {
        guard style != .toggle else { return nil }
        presses = presses.filter { time - $0 <= Self.tripleDuration } + [time]
        guard presses.count == 3 else { return nil }
        defer { presses = [] }
        return presses.first
    }

    private mutating func held() -> [Action] {
        switch press {
        case .recording(let since), .pausing(let since), .third(let since, _):
            press = nil
            return [style == .toggle ? .mark(at: since) : .stop(at: since)]
        case .idle, nil: return []
        }
    }

    private mutating func released() -> [Action] {
        defer { press = nil }
        switch press {
        case .idle(let since): return [.start(at: since)]
        case .recording(let since):
            switch style {
            case .toggle: return [.stop(at: since)]
            case .mark: return [.mark(at: since)]
            case .pause: return [.resume(at: since)]
            }
        case .third(_, let first): return [.redact(at: first)]
        case .pausing, nil: return []
        }
    }
}
