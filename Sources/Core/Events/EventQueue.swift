import Synchronization

/// One listener's queue of at most `capacity` events. Publishers never wait for it.
///
/// A full queue first drops its volatile events: partial text and levels. If it is still full, the listener's sequence
/// ends, because a sequence with gaps would mislead the listener.
final class EventQueue: Sendable {
    static let capacity = 1_024

    let wantsPartials: Bool

    private struct State {
        var events: [Event] = []
        var volatileCount = 0
        var hasEnded = false
        var waiter: CheckedContinuation<Event?, Never>?

        mutating func dropVolatile() {
            guard volatileCount > 0 else { return }
            events.removeAll(where: \.isVolatile)
            volatileCount = 0
        }
    }

    private let state = Mutex(State())

    init(wantsPartials: Bool) { self.wantsPartials = wantsPartials }

    /// Adds an event, unless it is volatile and the listener does not want partials.
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
            if event.isVolatile { state.volatileCount += 1 }
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

    /// Returns the next event; nil at the end or on cancellation. Only one task may call it at a time.
    func next() async -> Event? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Event?? = state.withLock { state in
                    // Checked under the lock: a cancellation is either seen here or finds the waiter.
                    if Task.isCancelled { return .some(nil) }
                    if !state.events.isEmpty {
                        let event = state.events.removeFirst()
                        if event.isVolatile { state.volatileCount -= 1 }
                        return event
                    }
                    if state.hasEnded { return .some(nil) }
                    state.waiter = continuation
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            finish()
        }
    }
}

extension Event {
    /// Whether the next event of the same kind replaces this one.
    var isVolatile: Bool {
        switch self {
        case .partial, .level: true
        default: false
        }
    }
}
