import Core
import Synchronization
import System

/// Shared by the recorder and the panel's thread: the button, the lamp's pattern, and its history. What the lamp shows
/// follows from the recorder's state alone. Only the blink that acknowledges a press is the panel's own: it precedes
/// the recorder's reaction.
final class PanelController: Sendable {
    private struct State {
        var pattern = LampPattern()
        var button: PanelButton?
        var isSimulated = false
        var pressedAt: Duration?
        /// Edges of the simulated button that nobody has read yet.
        var edges: [ButtonEdge] = []
        var history: [LampChange] = []
        var isStopping = false

        var lamp: LampPattern {
            pressedAt.map { pattern.blinking(at: $0, for: LampPattern.answerBlink) } ?? pattern
        }
    }

    /// Ends the panel thread's wait.
    let wakeup: EventDescriptor

    private static let historyLength = 1_024
    private let report: @Sendable (ButtonGesture.Event) -> Void
    private let state = Mutex(State())

    /// - Parameter report: called with the button's gestures, in order, until the panel stops; it may not block.
    /// - Throws: `DeviceError` if the process has no descriptor left.
    init(report: @escaping @Sendable (ButtonGesture.Event) -> Void) throws(DeviceError) {
        wakeup = try EventDescriptor()
        self.report = report
    }

    /// The monotonic clock, which counts from power-on.
    static var now: Duration { .nanoseconds(MonotonicClock.nanoseconds) }

    /// Shows the recorder's state; only its loop calls this.
    func show(_ pattern: LampPattern) {
        state.withLock { $0.pattern = pattern }
        wakeup.signal()
    }

    /// The last thousand changes of the lamp, oldest first.
    var history: [LampChange] { state.withLock { $0.history } }

    /// Presses or releases the simulated button; returns false if the panel has none.
    func simulate(pressed: Bool) -> Bool {
        let edge = ButtonEdge(pressed: pressed, time: Self.now)
        let isSimulated = state.withLock { state in
            if state.isSimulated { state.edges.append(edge) }
            return state.isSimulated
        }
        if isSimulated { wakeup.signal() }
        return isSimulated
    }

    /// How long after power-on a stick can be allowed by holding the button while plugging it in.
    static let allowsSticks = Duration.seconds(60)

    /// Whether the button is held to allow a stick that is being plugged in; that press then has no other effect.
    ///
    /// - Parameter now: since power-on.
    func claimHold(at now: Duration = PanelController.now) -> Bool {
        now <= Self.allowsSticks && state.withLock { $0.button?.claim(at: now) ?? false }
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

    /// Returns the lamp's level now, and when lamp or button must be updated next.
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
                // Under the lock, so that the reports keep their order.
                if !state.isStopping { report(event) }
            }
        }
        wakeup.signal()
    }

    func nextSimulated() -> ButtonEdge? { state.withLock { $0.edges.isEmpty ? nil : $0.edges.removeFirst() } }

    func shown(_ lit: Bool, at now: Duration) {
        state.withLock { state in
            let mode = state.lamp.mode(at: now)
            let isRest = lit == (mode != .off)
            let flashes = [.pulse, .doubleBlink, .paused, .refused, .doubleFlash, .open].contains(mode)
            let shows = state.lamp.isFaulted ? "fault" : isRest || flashes ? mode.rawValue : "blink"
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
    /// Whether the lamp is on since `time`.
    var lit: Bool
    /// The reason: a mode of the lamp, `fault`, or `blink` for an answer or a bookmark.
    var shows: String
}
