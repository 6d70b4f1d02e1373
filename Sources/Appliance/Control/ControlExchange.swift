import Core
import Synchronization
import System

/// Where the thread of the socket and the tasks that answer requests meet.
final class ControlExchange: Sendable {
    /// A line that a client sent.
    struct Job: Sendable {
        var client: Int
        var line: [UInt8]

        /// Ends when the client is gone.
        var gone: AsyncStream<Never>
    }

    /// What is to be sent to a client.
    struct Delivery: Sendable {
        var client: Int
        var bytes: [UInt8]

        /// Whether this answers the request.
        var answers: Bool
    }

    /// What is waiting for a subscriber that does not read: beyond this, volatile events are left out ...
    private static let volatileLimit = 65_536
    /// ... and beyond this, it is dropped.
    static let limit = 1_048_576

    /// So many may watch, or ask what may take long, at a time.
    static let mostStaying = 12

    private struct State {
        var deliveries: [Delivery] = []
        /// Bytes that each connected client has not yet read.
        var waiting: [Int: Int] = [:]
        var gone: [Int: AsyncStream<Never>.Continuation] = [:]
        /// Clients that watch, or are being answered what may take long.
        var staying: Set<Int> = []
        /// What connected clients have sent of files to import.
        var imported = ImportedTexts()
        var isStopping = false
    }

    let wakeup: EventDescriptor

    /// Requests, in the order in which they came.
    let jobs: AsyncStream<Job>
    private let posts: AsyncStream<Job>.Continuation
    private let state = Mutex(State())

    init() throws(DeviceError) {
        wakeup = try EventDescriptor()
        (jobs, posts) = AsyncStream<Job>.makeStream()
    }

    // The tasks' side.

    /// Answers a client's request.
    func answer(_ client: Int, _ line: [UInt8]) { _ = deliver(line, to: client, answers: true) }

    /// Sends an event; returns false where the client is gone.
    func send(_ line: [UInt8], to client: Int, isVolatile: Bool) -> Bool {
        if isVolatile, state.withLock({ $0.waiting[client] ?? 0 }) > Self.volatileLimit { return true }
        return deliver(line, to: client, answers: false)
    }

    /// Takes one of the places for what may take long; false where all are taken, so that the others are left for orders.
    func stays(_ client: Int) -> Bool {
        state.withLock { state in
            guard state.waiting[client] != nil else { return false }
            guard state.staying.contains(client) || state.staying.count < Self.mostStaying else { return false }
            state.staying.insert(client)
            return true
        }
    }

    /// Gives the place back; a client that is gone has given it back.
    func isDone(_ client: Int) { state.withLock { _ = $0.staying.remove(client) } }

    /// Adds a part of a file to what the client has sent of it before; see `ImportedTexts.append`.
    ///
    /// - Throws: What `ImportedTexts.append` throws; `disconnected` if the client has gone, since nothing would free its text.
    func append(_ part: ImportPart, from client: Int) throws(DeviceError) -> String? {
        let result: Result<String?, DeviceError> = state.withLock { state in
            guard state.waiting[client] != nil else {
                return .failure(DeviceError(.disconnected, "import", on: part.name, "the client has disconnected"))
            }
            do throws(DeviceError) { return .success(try state.imported.append(part, from: client)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Bytes of files that clients are importing.
    var importedBytes: Int { state.withLock { $0.imported.bytes } }

    /// Nothing more is taken.
    func stop() {
        state.withLock { $0.isStopping = true }
        posts.finish()
        wakeup.signal()
    }

    private func deliver(_ line: [UInt8], to client: Int, answers: Bool) -> Bool {
        let isThere = state.withLock { state in
            guard let waiting = state.waiting[client] else { return false }
            state.waiting[client] = waiting + line.count + 1
            state.deliveries.append(Delivery(client: client, bytes: line + [0x0A], answers: answers))
            return true
        }
        if isThere { wakeup.signal() }
        return isThere
    }

    // The socket's side.

    var isStopping: Bool { state.withLock { $0.isStopping } }

    func connected(_ client: Int) { state.withLock { $0.waiting[client] = 0 } }

    func requested(_ line: [UInt8], by client: Int) {
        let (gone, end) = AsyncStream<Never>.makeStream()
        state.withLock { $0.gone.updateValue(end, forKey: client) }?.finish()
        posts.yield(Job(client: client, line: line, gone: gone))
    }

    func took(_ bytes: Int, client: Int) { state.withLock { $0.waiting[client]? -= bytes } }

    func disconnected(_ client: Int) {
        let end = state.withLock { state in
            state.waiting.removeValue(forKey: client)
            state.staying.remove(client)
            state.imported.drop(client)
            return state.gone.removeValue(forKey: client)
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
