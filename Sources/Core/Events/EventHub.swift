import Synchronization

/// Publishes events to all listeners, each at its own pace. Publishers never wait.
package final class EventHub: Sendable {
    private struct State {
        var listeners: [Int: EventQueue] = [:]
        var lastID = 0
    }

    private let state = Mutex(State())
    private let interceptor: (@Sendable (Event) -> Void)?

    /// - Parameter interceptor: Called with every event before the listeners are. It must not block.
    package init(interceptor: (@Sendable (Event) -> Void)? = nil) { self.interceptor = interceptor }

    /// Adds a listener and returns its events from now on. The sequence ends after `finish`, or when the listener falls
    /// 1,024 events behind. Releasing the sequence removes the listener.
    ///
    /// - Parameter wantsPartials: Whether the listener wants partial text and levels. They are computed on demand.
    package func events(withPartials wantsPartials: Bool) -> AsyncStream<Event> {
        let queue = EventQueue(wantsPartials: wantsPartials)
        let id = state.withLock { state in
            state.lastID += 1
            state.listeners[state.lastID] = queue
            return state.lastID
        }
        let subscription = Subscription { [weak self] in
            self?.state.withLock { state in _ = state.listeners.removeValue(forKey: id) }
        }
        return AsyncStream {
            let event = await queue.next()
            if event == nil { subscription.remove() }
            return event
        }
    }

    /// Whether a listener wants partial text and levels.
    package var wantsPartials: Bool { state.withLock { $0.listeners.values.contains { $0.wantsPartials } } }

    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// Sends an event to all listeners. Never blocks; callable from any thread.
    package func publish(_ event: Event) {
        interceptor?(event)
        forward(event)
    }

    /// Publishes an error as a fault.
    package func publish(fault error: DeviceError) {
        publish(.fault(code: error.code.rawValue, message: error.message))
    }

    /// Sends an event to all listeners but not to the interceptor, which may call this.
    package func forward(_ event: Event) {
        for queue in state.withLock({ Array($0.listeners.values) }) { queue.append(event) }
    }

    /// Ends every listener's sequence after the events in its queue.
    package func finish() {
        for queue in state.withLock({ Array($0.listeners.values) }) { queue.finish() }
    }
}

/// Removes the listener when its sequence ends or is released.
private final class Subscription: Sendable {
    let remove: @Sendable () -> Void

    init(remove: @escaping @Sendable () -> Void) { self.remove = remove }

    deinit { remove() }
}
