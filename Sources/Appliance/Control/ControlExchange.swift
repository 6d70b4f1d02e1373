import Core
import Synchronization

/// The state shared by the socket's thread and the tasks that answer requests.
final class ControlExchange: Sendable {
    /// A request line from a client.
    struct Job: Sendable {
        var client: Int
        var line: [UInt8]

        /// Finishes when the client disconnects.
        var disconnection: AsyncStream<Never>
    }

    /// A line to send to a client.
    struct Delivery: Sendable {
        var client: Int
        var bytes: [UInt8]

        /// Whether the line answers the request.
        var answers: Bool
    }

    /// A subscriber with more unread bytes than this gets no volatile events.
    private static let volatileLimit = 65_536
    /// A subscriber with more unread bytes than this is disconnected.
    static let maximumUnreadBytes = 1_048_576
    static let maxLongRequests = 12

    private struct State {
        var deliveries: [Delivery] = []
        /// The bytes that each connected client has not read yet.
        var unread: [Int: Int] = [:]
        var disconnections: [Int: AsyncStream<Never>.Continuation] = [:]
        /// The clients that watch events or have a long request running.
        var longRequests: Set<Int> = []
        var imported = ImportedTexts()
        var isStopping = false
    }

    let wakeup: EventDescriptor

    /// The requests, in order of arrival.
    let jobs: AsyncStream<Job>
    private let posts: AsyncStream<Job>.Continuation
    private let state = Mutex(State())

    init() throws(DeviceError) {
        wakeup = try EventDescriptor()
        (jobs, posts) = AsyncStream<Job>.makeStream()
    }

    // The tasks call these.

    func answer(_ client: Int, _ line: [UInt8]) { _ = deliver(line, to: client, answers: true) }

    /// Sends an event; returns false if the client has disconnected.
    func send(_ line: [UInt8], to client: Int, isVolatile: Bool) -> Bool {
        if isVolatile, state.withLock({ $0.unread[client] ?? 0 }) > Self.volatileLimit { return true }
        return deliver(line, to: client, answers: false)
    }

    /// Reserves a slot for a long request; returns false if all are in use. Other clients can still send commands.
    ///
    /// Call `endLongRequest` before `answer`, after which the client may send another request.
    func beginLongRequest(_ client: Int) -> Bool {
        state.withLock { state in
            guard state.unread[client] != nil, state.longRequests.count < Self.maxLongRequests else { return false }
            state.longRequests.insert(client)
            return true
        }
    }

    func endLongRequest(_ client: Int) { state.withLock { _ = $0.longRequests.remove(client) } }

    /// Appends a part to the client's file; see `ImportedTexts.append`.
    ///
    /// - Throws: the errors of `ImportedTexts.append`; `disconnected` if the client has disconnected, since nothing would
    ///   free its text.
    func append(_ part: ImportPart, from client: Int) throws(DeviceError) -> String? {
        try rethrowing {
            try state.withLock { state in
                guard state.unread[client] != nil else {
                    throw DeviceError(.disconnected, "import", on: part.name, "the client has disconnected")
                }
                return try state.imported.append(part, from: client)
            }
        }
    }

    var importedBytes: Int { state.withLock { $0.imported.bytes } }

    /// Stops accepting requests.
    func stop() {
        state.withLock { $0.isStopping = true }
        posts.finish()
        wakeup.signal()
    }

    private func deliver(_ line: [UInt8], to client: Int, answers: Bool) -> Bool {
        let isConnected = state.withLock { state in
            guard let unread = state.unread[client] else { return false }
            state.unread[client] = unread + line.count + 1
            state.deliveries.append(Delivery(client: client, bytes: line + [0x0A], answers: answers))
            return true
        }
        if isConnected { wakeup.signal() }
        return isConnected
    }

    // The socket's thread calls these.

    var isStopping: Bool { state.withLock { $0.isStopping } }

    func connected(_ client: Int) { state.withLock { $0.unread[client] = 0 } }

    func requested(_ line: [UInt8], by client: Int) {
        let (disconnection, end) = AsyncStream<Never>.makeStream()
        state.withLock { $0.disconnections.updateValue(end, forKey: client) }?.finish()
        posts.yield(Job(client: client, line: line, disconnection: disconnection))
    }

    func sent(_ bytes: Int, client: Int) { state.withLock { $0.unread[client]? -= bytes } }

    func disconnected(_ client: Int) {
        let end = state.withLock { state in
            state.unread.removeValue(forKey: client)
            state.longRequests.remove(client)
            state.imported.drop(client)
            return state.disconnections.removeValue(forKey: client)
        }
        end?.finish()
    }

    func deliveries() -> [Delivery] {
        state.withLock { state in
            defer { state.deliveries = [] }
            return state.deliveries
        }
    }
}
