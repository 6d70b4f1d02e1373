import Core
import Synchronization
import System

/// Where the recorder and the thread of the panel meet: the button's machine, what the lamp is to show, and what it has
/// shown.
///
/// What the lamp shows follows from the recorder's state alone (`PanelView`); only that a press was felt, the panel says
/// by itself, before anybody else has heard of it.
final class PanelController: Sendable {
    private struct State {
        var view = PanelView()
        var button: PanelButton?
        var isSimulated = false
        /// When the last press was felt.
        var pressedAt: Duration?
        /// How much of what the button means was told.
        var pressesTold = 0
        /// Of the simulated button, not yet taken.
        var edges: [ButtonEdge] = []
        var history: [LampChange] = []
        var isStopping = false

        var lamp: LampPattern {
            pressedAt.map { view.lamp.blinking(at: $0, for: LampPattern.answerBlink) } ?? view.lamp
        }
    }

    /// Ends the panel thread's wait.
    let wakeup: EventDescriptor

    private static let historyLength = 1_024
    private let told: @Sendable (ButtonGesture.Effect) -> Void
    private let state = Mutex(State())

    /// - Parameter told: hears what the button's presses mean, in order, until the panel stops; it may not wait.
    /// - Throws: `DeviceError` where no descriptors can be had.
    init(told: @escaping @Sendable (ButtonGesture.Effect) -> Void) throws(DeviceError) {
        wakeup = try EventDescriptor()
        self.told = told
    }

    /// The monotonic clock, which counts from power-on.
    static var now: Duration { .nanoseconds(MonotonicClock.nanoseconds) }

    /// Shows what the recorder is about; its loop alone calls this.
    func show(_ view: PanelView) {
        change { state in
            state.view = view
            return Self.align(&state)
        }
    }

    /// What the lamp has shown, oldest first; the last thousand changes.
    var history: [LampChange] { state.withLock { $0.history } }

    /// Presses or releases the simulated button; false where the panel has none.
    func simulate(pressed: Bool) -> Bool {
        let edge = ButtonEdge(pressed: pressed, time: Self.now)
        let isSimulated = state.withLock { state in
            if state.isSimulated { state.edges.append(edge) }
            return state.isSimulated
        }
        if isSimulated { wakeup.signal() }
        return isSimulated
    }

    /// So long after power-on, a stick that is plugged in while the button is held becomes known.
    static let allowsSticks = Duration.seconds(60)

    /// Whether the button is held for a stick that is being plugged in: nothing else comes of that press any more.
    ///
    /// - Parameter now: since power-on.
    func claimHold(at now: Duration = PanelController.now) -> Bool {
        now <= Self.allowsSticks && state.withLock { $0.button?.claim(at: now) ?? false }
    }

    /// From now on, no press is told.
    func stop() {
        state.withLock { $0.isStopping = true }
        wakeup.signal()
    }

    private func change(_ body: (inout State) -> [ButtonGesture.Effect]) {
        state.withLock { state in
            for effect in body(&state) {
                Self.follow(effect, in: &state)
                guard !state.isStopping else { continue }
                state.pressesTold += 1
                // Under the lock, so that two threads tell in the order in which the button's machine did.
                told(effect)
            }
        }
        wakeup.signal()
    }

    /// What the panel does by itself, before anybody else has heard of it.
    private static func follow(_ effect: ButtonGesture.Effect, in state: inout State) {
        switch effect {
        case .pressed: state.pressedAt = now
        // The next press means what it means after this one; where the recorder cannot follow, it tells so.
        case .start:
            _ = state.button?.handle(.recording(true))
            _ = state.button?.handle(.paused(false))
        case .pause: _ = state.button?.handle(.paused(true))
        case .resume: _ = state.button?.handle(.paused(false))
        case .stop: _ = state.button?.handle(.recording(false))
        case .acknowledge, .mark, .strike, .shutDown, .stuck, .free: break
        }
    }

    /// Tells the button what goes on, unless the recorder has not heard yet what the button meant.
    private static func align(_ state: inout State) -> [ButtonGesture.Effect] {
        guard state.view.pressesHeard == state.pressesTold else { return [] }
        var effects = state.button?.handle(.recording(state.view.records)) ?? []
        effects += state.button?.handle(.paused(state.view.isPaused)) ?? []
        return effects + (state.button?.handle(.fault(state.view.isFaulted)) ?? [])
    }
}

// The thread of the panel.
extension PanelController {
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// There is a button, or none, from now on.
    func opened(_ button: PanelButton?, simulated: Bool) {
        change { state in
            state.button = button
            state.isSimulated = simulated
            return Self.align(&state)
        }
    }

    /// The lamp's level now, and when lamp or button want to be asked again.
    func next(at now: Duration) -> (lit: Bool, until: Duration?) {
        state.withLock { state in
            let (lit, until) = state.lamp.next(after: now)
            return (lit, [until, state.button?.wakeAt].compactMap { $0 }.min())
        }
    }

    func take(_ input: PanelButton.Input) { change { $0.button?.handle(input) ?? [] } }

    /// The next edge of the simulated button.
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
