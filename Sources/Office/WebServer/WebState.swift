internal import CMicrohttpd
import Core
import Glibc
import Synchronization
import System

/// The state of all open connections. Used on one thread.
final class WebState {
    /// The maximum size of corrections in bytes.
    static let maximumBodyBytes = 17 << 20
    /// The maximum number of bytes to read and discard from the body of a rejected request. A client that gets the
    /// response before it has sent the body may report only a broken connection.
    static let maximumDroppedBytes = 64 << 20

    let site: OfficeSite
    var connections = WebConnections()
    let bodies = WebBodies()
    /// Separate slots for bodies that are discarded, so that rejected requests do not delay accepted ones.
    let droppedBodies = WebBodies()
    let parsing = WebBodyTasks(named: "bodies")
    /// Separate from `parsing`, because adding files takes longer.
    let additions = WebBodyTasks(named: "additions")

    init(_ site: OfficeSite) { self.site = site }

    /// Closes connections whose requests take too long. (The Swift 6.0 compiler crashes if `WebServer`, which is noncopyable,
    /// accesses these properties.)
    func closeSlow() {
        for connection in connections.closeSlow() { resume(connection) }
        for connection in bodies.slow + droppedBodies.slow where !connections.isReceived(connection) {
            connections.close(connection)
        }
    }

    /// Resumes a suspended connection, so that it can be closed.
    func resume(_ connection: OpaquePointer) {
        bodies.resume(connection)
        droppedBodies.resume(connection)
    }

    /// Frees the slot of a connection that was answered or closed, and removes its result.
    func finishBody(of connection: OpaquePointer) {
        _ = (parsing.result(of: connection), additions.result(of: connection))
        bodies.finish(connection)
        droppedBodies.finish(connection)
    }

    /// Resumes all connections, because libmicrohttpd cannot stop while connections are suspended.
    func resumeAll() {
        bodies.resumeAll()
        droppedBodies.resumeAll()
        parsing.resumeAll()
        additions.resumeAll()
    }
}

final class IncomingRequest {
    var request: WebRequest
    /// The response if the request is rejected; the request's body is then discarded.
    let refusal: WebResponse?
    /// The receiver of the body of an upload, instead of `request.body`.
    var files: DroppedFiles?
    /// The number of bytes of the body that were discarded, or received since the connection's deadline was extended.
    var receivedBytes = 0
    /// Whether the connection is suspended until a slot is free.
    var isWaiting = false

    init(_ request: WebRequest, _ refusal: WebResponse?) { (self.request, self.refusal) = (request, refusal) }
}

/// Slots for receiving bodies. Only a few bodies are received at a time, so that requests without a body are not delayed.
/// Used on one thread.
final class WebBodies {
    private static let slotCount = 4
    /// The maximum time for receiving a body while other connections wait for a slot, in nanoseconds.
    private static let maximumNanoseconds: Int64 = 20_000_000_000

    /// The connections that have a slot, and the time when they got it, in nanoseconds.
    private var slots: [OpaquePointer: Int64] = [:]
    private var waiting: [OpaquePointer] = []

    func begin(_ connection: OpaquePointer, _ incoming: IncomingRequest) {
        if slots.count < Self.slotCount {
            slots[connection] = MonotonicClock.nanoseconds
            return
        }
        incoming.isWaiting = true
        waiting.append(connection)
        MHD_suspend_connection(connection)
    }

    /// Frees the slot of a connection that was answered or closed, and gives it to the next waiting connection.
    func finish(_ connection: OpaquePointer) {
        guard slots.removeValue(forKey: connection) != nil, !waiting.isEmpty else { return }
        let next = waiting.removeFirst()
        slots[next] = MonotonicClock.nanoseconds
        MHD_resume_connection(next)
    }

    /// The connections that take too long while others wait for a slot.
    var slow: [OpaquePointer] {
        if waiting.isEmpty { return [] }
        let latestStart = MonotonicClock.nanoseconds - Self.maximumNanoseconds
        return slots.filter { $0.value < latestStart }.map(\.key)
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

/// Handles bodies on another thread while their connections are suspended.
final class WebBodyTasks: Sendable {
    private struct State: Sendable {
        /// The results of requests that were not answered yet.
        var results: [UInt: WebRequest.Body] = [:]
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
                // `resumeAll` has already resumed the connection.
                guard state.suspended.remove(key) != nil else { return }
                state.results[key] = result
                // Safety: a suspended connection is not freed before it is resumed, and MHD_resume_connection is
                // thread-safe.
                OpaquePointer(bitPattern: key).map { MHD_resume_connection($0) }
            }
        }
    }

    /// Returns the result for a connection, if there is one, and removes it.
    func result(of connection: OpaquePointer) -> WebRequest.Body? {
        state.withLock { $0.results.removeValue(forKey: UInt(bitPattern: connection)) }
    }

    func resumeAll() {
        let connections = state.withLock { state in
            defer { state.suspended = [] }
            return state.suspended
        }
        for key in connections { OpaquePointer(bitPattern: key).map { MHD_resume_connection($0) } }
    }
}
