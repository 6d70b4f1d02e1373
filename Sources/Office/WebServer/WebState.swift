internal import CMicrohttpd
import Core
import Glibc
import Synchronization
import System

/// The state of all open connections. Used on one thread.
final class WebState {
    /// The maximum size of a request's body in bytes.
    static let maximumBodyBytes = 17 << 20
    /// The maximum number of bytes to read and drop from the body of a rejected request. If a client gets the response
    /// earlier, it may see only a broken connection.
    static let maximumDroppedBytes = 64 << 20

    let site: OfficeSite
    var connections = WebConnections()
    let bodies = WebBodies()
    /// Connections whose bodies are dropped. They have separate slots, so that they do not delay accepted requests.
    let dropped = WebBodies()
    /// Bodies that are being parsed.
    let parsing = WebBodyTasks(named: "bodies")
    /// Files that are being added, which takes longer than parsing.
    let additions = WebBodyTasks(named: "additions")

    init(_ site: OfficeSite) { self.site = site }

    /// Closes connections whose requests take too long. (Swift 6.0 crashes if a noncopyable server reaches into this
    /// object.)
    func closeSlow() {
        for connection in connections.closeSlow() { resume(connection) }
        for connection in bodies.slow + dropped.slow where !connections.isReceived(connection) {
            connections.close(connection)
        }
    }

    /// Resumes a suspended connection, so that it can be closed.
    func resume(_ connection: OpaquePointer) {
        bodies.resume(connection)
        dropped.resume(connection)
    }

    /// Frees the slot of a connection that was answered or closed, and drops its result.
    func endBody(of connection: OpaquePointer) {
        _ = (parsing.result(of: connection), additions.result(of: connection))
        bodies.end(connection)
        dropped.end(connection)
    }

    /// Resumes all connections, because libmicrohttpd cannot stop while connections are suspended.
    func resumeAll() {
        bodies.resumeAll()
        dropped.resumeAll()
        parsing.resumeAll()
        additions.resumeAll()
    }
}

/// A request that is being received.
final class Incoming {
    var request: WebRequest
    /// The response to a rejected request, whose body is dropped.
    let refusal: WebResponse?
    /// The receiver of the body, instead of `request`.
    var files: DroppedFiles?
    /// The number of bytes of the body that were dropped, or received since the connection's deadline was extended.
    var receivedBytes = 0
    /// Whether the connection is suspended until a slot is free.
    var isWaiting = false

    init(_ request: WebRequest, _ refusal: WebResponse?) { (self.request, self.refusal) = (request, refusal) }
}

/// Slots for receiving bodies. Only a few bodies are received at a time, so that requests without a body are not
/// delayed. Used on one thread.
final class WebBodies {
    private static let maximumReceiving = 4
    /// The maximum time for receiving a body while others wait, in nanoseconds.
    private static let maximumNanoseconds: Int64 = 20_000_000_000

    /// The time at which each connection got its slot.
    private var receiving: [OpaquePointer: Int64] = [:]
    /// Suspended connections, in order of arrival.
    private var waiting: [OpaquePointer] = []

    /// Gives a connection a slot, or suspends it.
    func begin(_ connection: OpaquePointer, _ incoming: Incoming) {
        if receiving.count < Self.maximumReceiving {
            receiving[connection] = MonotonicClock.nanoseconds
            return
        }
        incoming.isWaiting = true
        waiting.append(connection)
        MHD_suspend_connection(connection)
    }

    /// Frees the slot of a connection that was answered or closed, and gives it to the next waiting connection.
    func end(_ connection: OpaquePointer) {
        guard receiving.removeValue(forKey: connection) != nil, !waiting.isEmpty else { return }
        let next = waiting.removeFirst()
        receiving[next] = MonotonicClock.nanoseconds
        MHD_resume_connection(next)
    }

    /// The connections that take too long while others wait.
    var slow: [OpaquePointer] {
        if waiting.isEmpty { return [] }
        let latest = MonotonicClock.nanoseconds - Self.maximumNanoseconds
        return receiving.filter { $0.value < latest }.map(\.key)
    }

    /// Resumes a suspended connection, so that it can be closed.
    func resume(_ connection: OpaquePointer) {
        guard let index = waiting.firstIndex(of: connection) else { return }
        waiting.remove(at: index)
        MHD_resume_connection(connection)
    }

    func resumeAll() {
        for connection in waiting { MHD_resume_connection(connection) }
        waiting = []
    }
}

/// Handles bodies on another thread, while their connections are suspended.
final class WebBodyTasks: Sendable {
    private struct State: Sendable {
        /// Results, until their requests are answered.
        var done: [UInt: WebRequest.Body] = [:]
        /// Suspended connections.
        var suspended: Set<UInt> = []
    }

    private let state = Mutex(State())
    private let thread: WorkThread

    init(named name: String) { thread = WorkThread(named: name, niceness: 1) }

    /// Suspends the connection while `body` runs.
    func begin(_ connection: OpaquePointer, _ body: @escaping @Sendable () -> WebRequest.Body) {
        let key = UInt(bitPattern: connection)
        state.withLock { _ = $0.suspended.insert(key) }
        MHD_suspend_connection(connection)
        thread.start { [self] in
            let result = body()
            state.withLock { state in
                // The connection was closed.
                guard state.suspended.remove(key) != nil else { return }
                state.done[key] = result
                // Safety: a suspended connection is not freed before it is resumed, and MHD_resume_connection is
                // thread-safe.
                OpaquePointer(bitPattern: key).map { MHD_resume_connection($0) }
            }
        }
    }

    /// Returns the result and removes it.
    func result(of connection: OpaquePointer) -> WebRequest.Body? {
        state.withLock { $0.done.removeValue(forKey: UInt(bitPattern: connection)) }
    }

    func resumeAll() {
        let connections = state.withLock { state in
            defer { state.suspended = [] }
            return state.suspended
        }
        for key in connections { OpaquePointer(bitPattern: key).map { MHD_resume_connection($0) } }
    }
}
