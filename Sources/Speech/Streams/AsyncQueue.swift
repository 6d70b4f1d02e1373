import Synchronization

/// A queue between tasks. Writers wait while it is full, and readers wait while it is empty. Cancelled tasks stop
/// waiting.
final class AsyncQueue<Element: Sendable>: Sendable {
    private typealias Waiters = [Int: CheckedContinuation<Void, Never>]

    private struct State {
        var elements: [Element] = []
        var cost = 0
        var hasEnded = false
        var failure: (any Error)?
        var nextWaiter = 0
        var readers: Waiters = [:]
        var writers: Waiters = [:]

        mutating func wakeAll() -> Waiters {
            defer { (readers, writers) = ([:], [:]) }
            // A key is never in both dictionaries.
            return readers.merging(writers) { first, _ in first }
        }
    }

    private let capacity: Int
    private let cost: @Sendable (Element) -> Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - capacity: The total cost of the queued elements at which writers start to wait.
    ///   - cost: Returns an element's cost; by default 1.
    init(capacity: Int, cost: @escaping @Sendable (Element) -> Int = { _ in 1 }) {
        self.capacity = max(1, capacity)
        self.cost = cost
    }

    var hasWaitingWriter: Bool { state.withLock { !$0.writers.isEmpty } }

    /// Appends an element once there is space.
    ///
    /// - Parameter outdated: Returns whether the new element replaces the given queued element.
    /// - Throws: `CancellationError` if the queue has ended or the task is cancelled.
    func send(_ element: Element, replacing outdated: (Element) -> Bool = { _ in false }) async throws {
        while true {
            try Task.checkCancellation()
            if try append(element, replacing: outdated, respectsCapacity: true) { return }
            await wait(isReader: false)
        }
    }

    /// Appends an element immediately, even if the queue is full. Does nothing if the queue has ended.
    func sendNow(_ element: Element, replacing outdated: (Element) -> Bool = { _ in false }) {
        _ = try? append(element, replacing: outdated, respectsCapacity: false)
    }

    /// Appends an element if there is space. Returns whether there was.
    func sendIfSpace(_ element: Element) -> Bool {
        (try? append(element, replacing: { _ in false }, respectsCapacity: true)) ?? false
    }

    /// Appends an element. Returns false if the queue is full and `respectsCapacity` is true.
    private func append(
        _ element: Element, replacing outdated: (Element) -> Bool, respectsCapacity: Bool
    ) throws -> Bool {
        let waiters = try state.withLock { state -> Waiters? in
            if state.hasEnded { throw CancellationError() }
            if respectsCapacity, state.cost >= capacity { return nil }
            if state.elements.contains(where: outdated) {
                state.elements.removeAll(where: outdated)
                state.cost = state.elements.reduce(0) { $0 + cost($1) }
            }
            state.elements.append(element)
            state.cost += cost(element)
            defer { state.readers = [:] }
            return state.readers
        }
        waiters?.values.forEach { $0.resume() }
        return waiters != nil
    }

    /// Waits for the next element. Returns nil at the end or if the task is cancelled.
    ///
    /// - Throws: The error with which the queue ended: once, after the last element.
    func next() async throws -> Element? {
        try await receive { state in
            let element = state.elements.removeFirst()
            state.cost -= cost(element)
            return element
        }
    }

    /// Returns the next element immediately; nil if the queue is empty.
    func nextNow() -> Element? {
        let (element, waiters) = state.withLock { state -> (Element?, Waiters) in
            guard !state.elements.isEmpty else { return (nil, [:]) }
            let element = state.elements.removeFirst()
            state.cost -= cost(element)
            defer { state.writers = [:] }
            return (element, state.writers)
        }
        waiters.values.forEach { $0.resume() }
        return element
    }

    /// Waits until there are elements and returns all of them. Returns nil and throws as `next` does.
    func nextAll() async throws -> [Element]? {
        try await receive { state in
            defer { (state.elements, state.cost) = ([], 0) }
            return state.elements
        }
    }

    private func receive<Value>(_ remove: (inout State) -> Value) async throws -> Value? {
        while !Task.isCancelled {
            var value: Value?
            var isOver = false
            let waiters = try state.withLock { state -> Waiters in
                guard !state.elements.isEmpty else {
                    isOver = state.hasEnded
                    defer { state.failure = nil }
                    if let failure = state.failure { throw failure }
                    return [:]
                }
                value = remove(&state)
                defer { state.writers = [:] }
                return state.writers
            }
            waiters.values.forEach { $0.resume() }
            if let value { return value }
            if isOver { return nil }
            await wait(isReader: true)
        }
        return nil
    }

    /// Ends the queue. Readers still receive the queued elements, and then the error.
    func finish(throwing error: (any Error)? = nil) {
        let waiters = state.withLock { state -> Waiters in
            guard !state.hasEnded else { return [:] }
            state.hasEnded = true
            state.failure = error
            return state.wakeAll()
        }
        waiters.values.forEach { $0.resume() }
    }

    /// Ends the queue and drops its elements.
    func cancel() {
        let waiters = state.withLock { state -> Waiters in
            (state.elements, state.cost, state.failure) = ([], 0, nil)
            state.hasEnded = true
            return state.wakeAll()
        }
        waiters.values.forEach { $0.resume() }
    }

    /// Suspends until there may be something to read or space to write.
    private func wait(isReader: Bool) async {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    // Checked while holding the lock, which `onCancel` also acquires.
                    if Task.isCancelled || state.hasEnded { return true }
                    if isReader ? !state.elements.isEmpty : state.cost < capacity { return true }
                    if isReader { state.readers[id] = continuation } else { state.writers[id] = continuation }
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { $0.readers.removeValue(forKey: id) ?? $0.writers.removeValue(forKey: id) }
            waiter?.resume()
        }
    }
}
