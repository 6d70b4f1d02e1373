import Core
import Synchronization
import System

/// The state that the recorder and the panel's thread share: the button, and the lamp's pattern and history. The
/// pattern follows from the recorder's state. Only the blink that acknowledges a press comes before the recorder
/// handles it.
final class PanelController: Sendable {
    private struct State {
        var pattern = LampPattern()
        var button: PanelButton?
        var isSimulated = false
        var pressedAt: Duration?
        /// The unread edges of the simulated button.
        var simulatedEdges: [ButtonEdge] = []
        var history: [LampChange] = []
        var isStopping = false

        var lamp: LampPattern {
            pressedAt.map { pattern.blinking(at: $0, for: LampPattern.pressBlink) } ?? pattern
        }
    }

    let wakeup: EventDescriptor

    private static let maximumHistoryCount = 1_024
    private let report: @Sendable (ButtonGesture.Event) -> Void
    private let state = Mutex(State())

    /// - Parameter report: called with the button's gestures, in order, until the panel stops; it must not block.
    /// - Throws: `DeviceError` if the process has no descriptor left.
    init(report: @escaping @Sendable (ButtonGesture.Event) -> Void) throws(DeviceError) {
        wakeup = try EventDescriptor()
        self.report = report
    }

    /// The time since power-on.
    static var now: Duration { .nanoseconds(MonotonicClock.nanoseconds) }

    /// Changes what the lamp shows. Only the recorder's loop calls this.
    func show(_ pattern: LampPattern) {
        state.withLock { $0.pattern = pattern }
        wakeup.signal()
    }

    /// The latest changes of the lamp, at most 1,024, oldest first.
    var history: [LampChange] { state.withLock { $0.history } }

    /// Presses or releases the simulated button. Returns false if the button is not simulated.
    func simulate(pressed: Bool) -> Bool {
        let edge = ButtonEdge(pressed: pressed, time: Self.now)
        let isSimulated = state.withLock { state in
            if state.isSimulated { state.simulatedEdges.append(edge) }
            return state.isSimulated
        }
        if isSimulated { wakeup.signal() }
        return isSimulated
    }

    /// How long after power-on a stick can be allowed by holding the button while plugging it in.
    static let stickHoldLimit = Duration.seconds(60)

    /// Returns whether the button is held to allow a stick that is being plugged in. If so, the press has no other
    /// effect.
    ///
    /// - Parameter now: the time since power-on.
    func claimHold(at now: Duration = PanelController.now) -> Bool {
        now <= Self.stickHoldLimit && state.withLock { $0.button?.claim(at: now) ?? false }
    }

    /// Stops reporting gestures, and ends the panel's thread.
    func stop() {
        state.withLock { $0.isStopping = true }
        wakeup.signal()
    }
}

// Called by the panel's thread.
extension PanelController {
    var isStopping: Bool { state.withLock { $0.isStopping } }

    func setButton(_ button: PanelButton?, isSimulated: Bool) {
        state.withLock { ($0.button, $0.isSimulated) = (button, isSimulated) }
        wakeup.signal()
    }

    /// Returns whether the lamp must be lit now, and when the lamp or the button must be updated next; nil for never.
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
                // The lock is held during the call, so that the reports keep their order.
                if !state.isStopping { report(event) }
            }
        }
        wakeup.signal()
    }

    func nextSimulatedEdge() -> ButtonEdge? {
        state.withLock { $0.simulatedEdges.isEmpty ? nil : $0.simulatedEdges.removeFirst() }
    }

    func addLampChange(lit: Bool, at now: Duration) {
        state.withLock { state in
            let mode = state.lamp.mode(at: now)
            let matchesMode = lit == (mode != .off)
            let flashes = [.pulse, .doubleBlink, .paused, .refused, .doubleFlash, .open].contains(mode)
            let shows = state.lamp.isFaulted ? "fault" : matchesMode || flashes ? mode.rawValue : "blink"
            if state.history.count == Self.maximumHistoryCount { state.history.removeFirst() }
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

/// A change of the lamp, as clients of the control socket receive it.
struct LampChange: Hashable, Sendable, Codable {
    /// Seconds on the monotonic clock.
    var time: Double
    /// Whether the lamp is on from `time` on.
    var lit: Bool
    /// The reason: a mode of the lamp, `fault`, or `blink` to acknowledge a press or a bookmark.
    var shows: String
}
