import Synchronization

/// Where events go out to all who listen, each at its own pace; nobody who publishes ever waits.
package final class EventHub: Sendable {
    private struct State {
        var listeners: [Int: EventQueue] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    /// Hears everything that is published, before anybody else: no queue of its own, so that it misses nothing.
    private let first: (@Sendable (Event) -> Void)?

    /// - Parameter first: may not wait.
    package init(first: (@Sendable (Event) -> Void)? = nil) { self.first = first }

    /// All events from now on, until `finish`, the sequence is let go, or the listener falls 1,024 events behind.
    /// Partial readings and levels are computed only while somebody wants them.
    package func events(withPartials wantsPartials: Bool) -> AsyncStream<Event> {
        let queue = EventQueue(wantsPartials: wantsPartials)
        let ticket = state.withLock { state in
            state.next += 1
            state.listeners[state.next] = queue
            return state.next
        }
        let seat = Seat { [weak self] in
            self?.state.withLock { state in _ = state.listeners.removeValue(forKey: ticket) }
        }
        return AsyncStream {
            let event = await queue.next()
            if event == nil { seat.leave() }
            return event
        }
    }

    /// Whether somebody wants partial readings and levels.
    package var wantsPartials: Bool { state.withLock { $0.listeners.values.contains { $0.wantsPartials } } }

    /// Whether anybody listens.
    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// Hands an event to everybody who listens. Never waits; may be called from any thread.
    package func publish(_ event: Event) {
        first?(event)
        pass(on: event)
    }

    /// Tells all who listen, but not the one who hears everything first: it is that one who tells.
    package func pass(on event: Event) {
        for queue in state.withLock({ Array($0.listeners.values) }) { queue.put(event) }
    }

    /// Ends every listener's sequence, once it has taken what there is.
    package func finish() {
        for queue in state.withLock({ Array($0.listeners.values) }) { queue.end() }
    }
}

/// A listener's place at the hub; given back when its sequence ends or goes.
private final class Seat: Sendable {
    let leave: @Sendable () -> Void

    init(leave: @escaping @Sendable () -> Void) { self.leave = leave }

    deinit { leave() }
}
