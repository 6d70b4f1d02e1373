import Synchronization

/// Publishes events to all listeners, each at its own pace. Publishers never wait.
package final class EventHub: Sendable {
    private struct State {
        var listeners: [Int: EventQueue] = [:]
        var next = 0
    }

    private let state = Mutex(State())
    /// Called with every event before the listeners, without a queue, so that it misses no event.
    private let first: (@Sendable (Event) -> Void)?

    /// - Parameter first: Called with every event before the listeners; must not block.
    package init(first: (@Sendable (Event) -> Void)? = nil) { self.first = first }

    /// Returns the events from now on, until `finish`, the sequence is released, or the listener falls 1,024 events
    /// behind.
    ///
    /// Partial text and levels are computed only while a listener wants them.
    package func events(withPartials wantsPartials: Bool) -> AsyncStream<Event> {
        let queue = EventQueue(wantsPartials: wantsPartials)
        let id = state.withLock { state in
            state.next += 1
            state.listeners[state.next] = queue
            return state.next
        }
        let subscription = Subscription { [weak self] in
            self?.state.withLock { state in _ = state.listeners.removeValue(forKey: id) }
        }
        return AsyncStream {
            let event = await queue.next()
            if event == nil { subscription.end() }
            return event
        }
    }

    /// Whether a listener wants partial text and levels.
    package var wantsPartials: Bool { state.withLock { $0.listeners.values.contains { $0.wantsPartials } } }

    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// Sends an event to all listeners. Never blocks; callable from any thread.
    package func publish(_ event: Event) {
        first?(event)
        pass(on: event)
    }

    /// Publishes an error as a fault.
    package func publish(fault error: DeviceError) {
        publish(.fault(code: error.code.rawValue, message: error.message))
    }

    /// Sends an event to all listeners but the first, which calls this.
    package func pass(on event: Event) {
        for queue in state.withLock({ Array($0.listeners.values) }) { queue.append(event) }
    }

    /// Ends every listener's sequence after the events in its queue.
    package func finish() {
        for queue in state.withLock({ Array($0.listeners.values) }) { queue.finish() }
    }
}

/// Removes the listener when its sequence ends or is released.
private final class Subscription: Sendable {
    let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
