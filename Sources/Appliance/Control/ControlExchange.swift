import Core
import Synchronization

/// The state shared by the socket's thread and the tasks that answer requests.
final class ControlExchange: Sendable {
    struct Job: Sendable {
        var client: Int
        var line: [UInt8]

        /// Finishes when the client disconnects or sends its next request.
        var disconnection: AsyncStream<Never>
    }

    /// A line to send to a client.
    struct Delivery: Sendable {
        var client: Int
        var bytes: [UInt8]

        /// Whether the line answers a request; otherwise it is an event.
        var isAnswer: Bool
    }

    /// A subscriber with more unsent bytes than this gets no levels and no partial transcripts.
    private static let volatileEventLimit = 65_536
    /// A subscriber with more unsent bytes than this is disconnected.
    static let maximumUnsentBytes = 1_048_576
    static let maxLongRequests = 12

    private struct State {
        var deliveries: [Delivery] = []
        /// The number of bytes that are not sent yet, by connected client.
        var unsentBytes: [Int: Int] = [:]
        var disconnections: [Int: AsyncStream<Never>.Continuation] = [:]
        /// The clients that watch events or have a long request running.
        var longRequests: Set<Int> = []
        var imported = ImportedTexts()
        var isStopping = false
    }

    let wakeup: EventDescriptor
    let jobs: AsyncStream<Job>
    private let posts: AsyncStream<Job>.Continuation
    private let state = Mutex(State())

    init() throws(DeviceError) {
        wakeup = try EventDescriptor()
        (jobs, posts) = AsyncStream<Job>.makeStream()
    }

    // Called by the tasks.

    func answer(_ client: Int, _ line: [UInt8]) { _ = deliver(line, to: client, isAnswer: true) }

    /// Sends an event; returns false if the client has disconnected.
    func send(_ line: [UInt8], to client: Int, isVolatile: Bool) -> Bool {
        if isVolatile, state.withLock({ $0.unsentBytes[client] ?? 0 }) > Self.volatileEventLimit { return true }
        return deliver(line, to: client, isAnswer: false)
    }

    /// Reserves a slot for a long request. Returns false if all slots are in use or the client has disconnected. The
    /// slots are limited so that other clients can still send commands.
    ///
    /// Call `endLongRequest` before `answer`, after which the client may send another request.
    func beginLongRequest(_ client: Int) -> Bool {
        state.withLock { state in
            guard state.unsentBytes[client] != nil, state.longRequests.count < Self.maxLongRequests
            else { return false }
            state.longRequests.insert(client)
            return true
        }
    }

    func endLongRequest(_ client: Int) { state.withLock { _ = $0.longRequests.remove(client) } }

    /// Appends a part to the client's file; see `ImportedTexts.append`.
    ///
    /// - Throws: the errors of `ImportedTexts.append`, or `disconnected` if the client has disconnected, because
    ///   nothing would free its text.
    func append(_ part: ImportPart, from client: Int) throws(DeviceError) -> String? {
        try rethrowing {
            try state.withLock { state in
                guard state.unsentBytes[client] != nil else {
                    throw DeviceError(.disconnected, "import", on: part.name, "the client has disconnected")
                }
                return try state.imported.append(part, from: client)
            }
        }
    }

    var importedBytes: Int { state.withLock { $0.imported.bytes } }

    func stop() {
        state.withLock { $0.isStopping = true }
        posts.finish()
        wakeup.signal()
    }

    private func deliver(_ line: [UInt8], to client: Int, isAnswer: Bool) -> Bool {
        let isConnected = state.withLock { state in
            guard let unsentBytes = state.unsentBytes[client] else { return false }
            state.unsentBytes[client] = unsentBytes + line.count + 1
            state.deliveries.append(Delivery(client: client, bytes: line + [0x0A], isAnswer: isAnswer))
            return true
        }
        if isConnected { wakeup.signal() }
        return isConnected
    }

    // Called by the socket's thread.

    var isStopping: Bool { state.withLock { $0.isStopping } }

    func addClient(_ client: Int) { state.withLock { $0.unsentBytes[client] = 0 } }

    func post(_ line: [UInt8], from client: Int) {
        let (disconnection, continuation) = AsyncStream<Never>.makeStream()
        state.withLock { $0.disconnections.updateValue(continuation, forKey: client) }?.finish()
        posts.yield(Job(client: client, line: line, disconnection: disconnection))
    }

    func didSend(_ bytes: Int, to client: Int) { state.withLock { $0.unsentBytes[client]? -= bytes } }

    func removeClient(_ client: Int) {
        let disconnection = state.withLock { state in
            state.unsentBytes.removeValue(forKey: client)
            state.longRequests.remove(client)
            state.imported.drop(client)
            return state.disconnections.removeValue(forKey: client)
        }
        disconnection?.finish()
    }

    func drainDeliveries() -> [Delivery] {
        state.withLock { state in
            defer { state.deliveries = [] }
            return state.deliveries
        }
    }
}
