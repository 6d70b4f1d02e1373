import Core
import Panel
import Platform
import Synchronization

/// Where the house and the thread of the panel meet: the machines of button and lamp, and what the lamp has shown.
package final class PanelDesk: Sendable {
    /// A change of the lamp, as the control socket tells it.
    package struct LampChange: Hashable, Sendable, Codable {
        /// Seconds on the monotonic clock.
        package var time: Double
        package var lit: Bool

        /// What was meant by it: a mode of the lamp, `fault`, or `blink` for an answer or a mark.
        package var shows: String
    }

    private struct State {
        var lamp = PanelLamp()
        var button: PanelButton?
        var isSimulated = false
        /// Of the simulated button, not yet taken.
        var edges: [ButtonEdge] = []
        var history: [LampChange] = []
        var isStopping = false
    }

    /// Ends the panel thread's wait.
    let wakeup: EventDescriptor

    /// What the button's presses mean, in order; ends when the panel stops.
    let effects: AsyncStream<ButtonGesture.Effect>

    private static let historyLength = 1_024
    private let told: AsyncStream<ButtonGesture.Effect>.Continuation
    private let state = Mutex(State())

    init() throws(DeviceError) {
        wakeup = try EventDescriptor()
        (effects, told) = AsyncStream<ButtonGesture.Effect>.makeStream()
    }

    static var now: Duration { .nanoseconds(MonotonicClock.nanoseconds) }

    /// Tells the lamp what goes on.
    func tell(_ input: PanelLamp.Input) {
        let now = Self.now
        change { state in
            state.lamp.handle(input, at: now)
            return switch input {
            case .recording(let goesOn): state.button?.handle(.recording(goesOn)) ?? []
            case .fault: state.button?.handle(.fault(true)) ?? []
            case .acknowledge: state.button?.handle(.fault(false)) ?? []
            default: []
            }
        }
    }

    /// Whether a fault is shown that waits to be acknowledged.
    var isFaulted: Bool { state.withLock { $0.lamp.isFaulted } }

    /// What the lamp has shown, oldest first; the last thousand changes.
    package var history: [LampChange] { state.withLock { $0.history } }

    /// Presses or releases the simulated button; false where the panel has none.
    package func simulate(pressed: Bool) -> Bool {
        let edge = ButtonEdge(pressed: pressed, time: Self.now)
        let isSimulated = state.withLock { state in
            if state.isSimulated { state.edges.append(edge) }
            return state.isSimulated
        }
        if isSimulated { wakeup.signal() }
        return isSimulated
    }

    /// From now on, no press is told.
    func stop() {
        state.withLock { $0.isStopping = true }
        told.finish()
        wakeup.signal()
    }

    private func change(_ body: (inout State) -> [ButtonGesture.Effect]) {
        let effects = state.withLock { state -> [ButtonGesture.Effect] in
            let effects = body(&state)
            for effect in effects { Self.follow(effect, in: &state) }
            return state.isStopping ? [] : effects
        }
        for effect in effects { told.yield(effect) }
        wakeup.signal()
    }

    /// What the panel does by itself, before anybody else has heard of it.
    private static func follow(_ effect: ButtonGesture.Effect, in state: inout State) {
        switch effect {
        case .pressed: state.lamp.handle(.answer, at: now)
        case .acknowledge: state.lamp.handle(.acknowledge, at: now)
        // The next press means what it means after this one; whoever cannot follow tells it otherwise.
        case .start: _ = state.button?.handle(.recording(true))
        case .stop: _ = state.button?.handle(.recording(false))
        case .mark, .shutDown, .stuck, .free: break
        }
    }
}

// The thread of the panel.
extension PanelDesk {
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// There is a button, or none, from now on.
    func opened(_ button: PanelButton?, simulated: Bool, recording: Bool) {
        change { state in
            state.button = button
            state.isSimulated = simulated
            let effects = state.button?.handle(.recording(recording)) ?? []
            return effects + (state.button?.handle(.fault(state.lamp.isFaulted)) ?? [])
        }
    }

    /// The lamp's level now, and when the machines want to be asked again.
    func next(at now: Duration) -> (lit: Bool, until: Duration?) {
        state.withLock { state in
            let (lit, until) = state.lamp.next(at: now)
            return (lit, [until, state.button?.wakeAt].compactMap { $0 }.min())
        }
    }

    func take(_ input: PanelButton.Input) { change { $0.button?.handle(input) ?? [] } }

    /// The next edge of the simulated button.
    func nextSimulated() -> ButtonEdge? { state.withLock { $0.edges.isEmpty ? nil : $0.edges.removeFirst() } }

    func shown(_ lit: Bool, at now: Duration) {
        state.withLock { state in
            let rest = state.lamp.mode
            let isRest = lit == (rest != .off)
            let shows =
                state.lamp.isFaulted
                ? "fault" : isRest || rest == .pulse || rest == .doubleBlink ? rest.rawValue : "blink"
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
