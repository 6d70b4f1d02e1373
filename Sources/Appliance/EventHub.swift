import Core
import Synchronization

/// Where events go out to all who listen, each at its own pace.
package final class EventHub: Sendable {
    private struct Listener {
        var wantsPartials: Bool
        var continuation: AsyncStream<Event>.Continuation
    }

    private struct State {
        var listeners: [Int: Listener] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// All events from now on. Partial readings and levels are computed only while somebody wants them.
    package func events(withPartials wantsPartials: Bool) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream<Event>.makeStream()
        let ticket = state.withLock { state in
            state.next += 1
            state.listeners[state.next] = Listener(wantsPartials: wantsPartials, continuation: continuation)
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in _ = state.listeners.removeValue(forKey: ticket) }
        }
        return stream
    }

    /// Whether somebody wants partial readings and levels.
    package var wantsPartials: Bool { state.withLock { $0.listeners.values.contains { $0.wantsPartials } } }

    package func publish(_ event: Event) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners where listener.wantsPartials || !event.isVolatile {
            listener.continuation.yield(event)
        }
    }

    /// Ends every listener's sequence.
    package func finish() {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener.continuation.finish() }
    }
}

extension Event {
    /// Whether the event is worth nothing once the next of its kind has come.
    fileprivate var isVolatile: Bool {
        switch self {
        case .partial, .level: true
        default: false
        }
    }
}
