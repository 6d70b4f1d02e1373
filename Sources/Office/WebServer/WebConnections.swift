import Glibc
import System

/// The open connections. If there are too many, closes the one whose request has been incomplete for the longest time.
/// Otherwise clients that send nothing, or one byte at a time, could occupy all connections.
struct WebConnections {
    private struct Connection {
        let socket: Int32
        /// When the client connected, received an answer, or got an extended deadline, in seconds.
        var waitStart: Double
        /// Whether a request was received completely and must be answered.
        var isReceived = false
    }

    private var connections: [OpaquePointer: Connection] = [:]

    /// Adds a connection. If there are too many, closes another connection and returns it.
    mutating func add(_ connection: OpaquePointer, _ socket: Int32) -> OpaquePointer? {
        var closed: OpaquePointer?
        if connections.count >= WebServer.incompleteLimit {
            let incomplete = connections.filter { !$0.value.isReceived }
            // A client that plays audio reads slowly. If its connection is closed, the client requests the rest again.
            let canCloseAny = incomplete.isEmpty && connections.count >= WebServer.anyLimit
            let candidates = canCloseAny ? connections : incomplete
            if let slowest = candidates.min(by: { $0.value.waitStart < $1.value.waitStart }) {
                closed = slowest.key
                close(slowest.key)
            }
        }
        connections[connection] = Connection(socket: socket, waitStart: MonotonicClock.seconds)
        return closed
    }

    mutating func markReceived(_ connection: OpaquePointer) { connections[connection]?.isReceived = true }

    func isReceived(_ connection: OpaquePointer) -> Bool { connections[connection]?.isReceived ?? false }

    /// Starts to wait for the next request, after one was answered or has failed.
    mutating func markAnswered(_ connection: OpaquePointer) {
        connections[connection]?.isReceived = false
        connections[connection]?.waitStart = MonotonicClock.seconds
    }

    mutating func extendDeadline(of connection: OpaquePointer) {
        connections[connection]?.waitStart = MonotonicClock.seconds
    }

    mutating func remove(_ connection: OpaquePointer) { connections[connection] = nil }

    /// Closes connections whose requests take too long, and returns them.
    mutating func closeSlow() -> [OpaquePointer] {
        let latestStart = MonotonicClock.seconds - WebServer.maximumRequestSeconds
        let slow = connections.filter { !$0.value.isReceived && $0.value.waitStart < latestStart }.map(\.key)
        for connection in slow { close(connection) }
        return slow
    }

    /// Shuts down the socket, so that libmicrohttpd closes the connection.
    mutating func close(_ connection: OpaquePointer) {
        guard let removed = connections.removeValue(forKey: connection) else { return }
        shutdown(removed.socket, Int32(SHUT_RDWR))
    }
}
