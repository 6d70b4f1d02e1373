import Core
import Synchronization
import System

/// The state that the recorder and the panel's thread share: the button, and the lamp's pattern and history. The
/// pattern follows from the recorder's state, except for the blink that acknowledges a press before the recorder does.
final class PanelController: Sendable {
    private struct State {
        var pattern = LampPattern()
        var button: PanelButton?
        var isSimulated = false
        var pressedAt: Duration?
        /// Unread edges of the simulated button.
        var edges: [ButtonEdge] = []
        var history: [LampChange] = []
        var isStopping = false

        var lamp: LampPattern {
            pressedAt.map { pattern.blinking(at: $0, for: LampPattern.pressBlink) } ?? pattern
        }
    }

    /// Wakes the panel's thread.
    let wakeup: EventDescriptor

    private static let historyLength = 1_024
    private let report: @Sendable (ButtonGesture.Event) -> Void
    private let state = Mutex(State())

    /// - Parameter report: called with the button's gestures, in order, until the panel stops; it must not block.
    /// - Throws: `DeviceError` if the process has no descriptor left.
    init(report: @escaping @Sendable (ButtonGesture.Event) -> Void) throws(DeviceError) {
        wakeup = try EventDescriptor()
        self.report = report
    }

    /// The monotonic time since power-on.
    static var now: Duration { .nanoseconds(MonotonicClock.nanoseconds) }

    /// Changes what the lamp shows; only the recorder's loop calls this.
    func show(_ pattern: LampPattern) {
        state.withLock { $0.pattern = pattern }
        wakeup.signal()
    }

    /// The latest changes of the lamp, about a thousand, oldest first.
    var history: [LampChange] { state.withLock { $0.history } }

    /// Presses or releases the simulated button; returns false if the button is not simulated.
    func simulate(pressed: Bool) -> Bool {
        let edge = ButtonEdge(pressed: pressed, time: Self.now)
        let isSimulated = state.withLock { state in
            if state.isSimulated { state.edges.append(edge) }
            return state.isSimulated
        }
        if isSimulated { wakeup.signal() }
        return isSimulated
    }

    /// The time after power-on in which holding the button while plugging in a stick allows the stick.
    static let stickHoldLimit = Duration.seconds(60)

    /// Returns whether the button is held to allow a stick that is being plugged in. The press has no other effect then.
    ///
    /// - Parameter now: the time since power-on.
    func claimHold(at now: Duration = PanelController.now) -> Bool {
        now <= Self.stickHoldLimit && state.withLock { $0.button?.claim(at: now) ?? false }
    }

    /// Stops reporting gestures.
    func stop() {
        state.withLock { $0.isStopping = true }
        wakeup.signal()
    }
}

// Called by the panel's thread.
extension PanelController {
    var isStopping: Bool { state.withLock { $0.isStopping } }

    func opened(_ button: PanelButton?, simulated: Bool) {
        state.withLock { ($0.button, $0.isSimulated) = (button, simulated) }
        wakeup.signal()
    }

    /// Returns whether the lamp is lit now, and when the lamp or the button must be updated next.
    func next(at now: Duration) -> (lit: Bool, until: Duration?) {
        state.withLock { state in
            let (lit, until) = state.lamp.next(after: now)
            return (lit, [until, state.button?.wakeAt].compactMap { $0 }.min())
        }
    }

    func handle(_ input: PanelButton.Input) {
        state.withLock { state in
            for event in state.button?.handle(input) ?? [] {
                if case .pressed = event { state.pressedAt = Self.now }
                // Called under the lock, so that the reports keep their order.
                if !state.isStopping { report(event) }
            }
        }
        wakeup.signal()
    }

    func nextSimulated() -> ButtonEdge? { state.withLock { $0.edges.isEmpty ? nil : $0.edges.removeFirst() } }

    func shown(_ lit: Bool, at now: Duration) {
        state.withLock { state in
            let mode = state.lamp.mode(at: now)
            let matchesMode = lit == (mode != .off)
            let flashes = [.pulse, .doubleBlink, .paused, .refused, .doubleFlash, .open].contains(mode)
            let shows = state.lamp.isFaulted ? "fault" : matchesMode || flashes ? mode.rawValue : "blink"
            if state.history.count == Self.historyLength { state.history.removeFirst() }
            state.history.append(LampChange(time: Double(now.milliseconds) / 1_000, lit: lit, shows: shows))
        }
    }
}

extension Duration {
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}

/// A change of the lamp, for the control socket.
struct LampChange: Hashable, Sendable, Codable {
    /// Seconds on the monotonic clock.
    var time: Double
    /// Whether the lamp is on from `time` on.
    var lit: Bool
    /// The reason: a mode of the lamp, `fault`, or `blink` to acknowledge a press or a bookmark.
    var shows: String
}
