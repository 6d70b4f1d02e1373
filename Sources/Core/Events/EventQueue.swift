import Synchronization

/// The events that one listener has not taken yet, at most so many: whoever publishes never waits for it.
///
/// Where it is full, volatile events go first. A listener that then still takes nothing is let go, rather than told a
/// story with holes: its sequence ends after what it has.
final class EventQueue: Sendable {
    static let capacity = 1_024

    let wantsPartials: Bool

    private struct State {
        var events: [Event] = []
        var volatile = 0
        var hasEnded = false
        var waiter: CheckedContinuation<Event?, Never>?

        /// Drops the volatile events, which are worth nothing by now.
        mutating func dropVolatile() {
            guard volatile > 0 else { return }
            events.removeAll(where: \.isVolatile)
            volatile = 0
        }
    }

    private let state = Mutex(State())

    init(wantsPartials: Bool) { self.wantsPartials = wantsPartials }

    /// Adds an event, unless it is nothing for this listener.
    func put(_ event: Event) {
        guard wantsPartials || !event.isVolatile else { return }
        let waiter = state.withLock { state -> CheckedContinuation<Event?, Never>? in
            guard !state.hasEnded else { return nil }
            if let waiter = state.waiter {
                state.waiter = nil
                return waiter
            }
            if state.events.count >= Self.capacity { state.dropVolatile() }
            guard state.events.count < Self.capacity else {
                if !event.isVolatile { state.hasEnded = true }
                return nil
            }
            state.events.append(event)
            if event.isVolatile { state.volatile += 1 }
            return nil
        }
        waiter?.resume(returning: event)
    }

    /// Nothing more will come.
    func end() {
        let waiter = state.withLock { state in
            state.hasEnded = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: nil)
    }

    /// The next event; nil at the end, and where the task is cancelled. One task at a time.
    func next() async -> Event? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Event?? = state.withLock { state in
                    // Under the lock: a cancellation either is seen here or finds the waiter.
                    if Task.isCancelled { return .some(nil) }
                    if !state.events.isEmpty {
                        let event = state.events.removeFirst()
                        if event.isVolatile { state.volatile -= 1 }
                        return event
                    }
                    if state.hasEnded { return .some(nil) }
                    state.waiter = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            end()
        }
    }
}

extension Event {
    /// Whether the event is worth nothing once the next of its kind has come.
    var isVolatile: Bool {
        switch self {
        case .partial, .level: true
        default: false
        }
    }
}
