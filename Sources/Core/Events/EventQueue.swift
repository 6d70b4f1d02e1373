import Synchronization

/// The queue of one listener, of limited length: publishers never wait for it.
///
/// When it is full, volatile events are dropped first. If it is still full, the listener's sequence ends, because a
/// sequence with gaps would mislead it.
final class EventQueue: Sendable {
    static let capacity = 1_024

    let wantsPartials: Bool

    private struct State {
        var events: [Event] = []
        var volatile = 0
        var hasEnded = false
        var waiter: CheckedContinuation<Event?, Never>?

        mutating func dropVolatile() {
            guard volatile > 0 else { return }
            events.removeAll(where: \.isVolatile)
            volatile = 0
        }
    }

    private let state = Mutex(State())

    init(wantsPartials: Bool) { self.wantsPartials = wantsPartials }

    /// Adds an event, unless the listener does not want it.
    func append(_ event: Event) {
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

    func finish() {
        let waiter = state.withLock { state in
            state.hasEnded = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: nil)
    }

    /// Returns the next event; nil at the end or on cancellation. One task at a time.
    func next() async -> Event? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Event?? = state.withLock { state in
                    // Checked under the lock: a cancellation is either seen here or finds the waiter.
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
            finish()
        }
    }
}

extension Event {
    /// Whether the next event of this kind replaces it.
    var isVolatile: Bool {
        switch self {
        case .partial, .level: true
        default: false
        }
    }
}
