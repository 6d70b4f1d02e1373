import Glibc
import System

/// The open connections. If there are too many, closes the one that has been idle longest. Otherwise clients that send
/// nothing, or one byte at a time, could occupy all connections.
struct WebConnections {
    private struct Connection {
        let socket: Int32
        /// The time at which it was accepted or last answered, in seconds.
        var since: Double
        /// Whether its request was received completely and has to be answered.
        var isReceived = false
    }

    private var connections: [OpaquePointer: Connection] = [:]

    /// Adds a connection. If there are too many, closes another one and returns it.
    mutating func add(_ connection: OpaquePointer, _ socket: Int32) -> OpaquePointer? {
        var closed: OpaquePointer?
        if connections.count >= WebServer.crowded {
            let waiting = connections.filter { !$0.value.isReceived }
            // A client that plays sound reads slowly. If its connection is closed, it requests the rest again.
            let closable = waiting.isEmpty && connections.count >= WebServer.veryCrowded ? connections : waiting
            if let slowest = closable.min(by: { $0.value.since < $1.value.since }) {
                closed = slowest.key
                close(slowest.key)
            }
        }
        connections[connection] = Connection(socket: socket, since: MonotonicClock.seconds)
        return closed
    }

    mutating func markReceived(_ connection: OpaquePointer) { connections[connection]?.isReceived = true }

    func isReceived(_ connection: OpaquePointer) -> Bool { connections[connection]?.isReceived ?? false }

    /// Notes that a request was answered or has failed.
    mutating func markAnswered(_ connection: OpaquePointer) {
        connections[connection]?.isReceived = false
        connections[connection]?.since = MonotonicClock.seconds
    }

    /// Extends the deadline of a request that arrives fast enough.
    mutating func extendDeadline(of connection: OpaquePointer) {
        connections[connection]?.since = MonotonicClock.seconds
    }

    mutating func remove(_ connection: OpaquePointer) { connections[connection] = nil }

    /// Closes connections whose requests take too long, and returns them.
    mutating func closeSlow() -> [OpaquePointer] {
        let latest = MonotonicClock.seconds - WebServer.maximumRequestSeconds
        let slow = connections.filter { !$0.value.isReceived && $0.value.since < latest }.map(\.key)
        for connection in slow { close(connection) }
        return slow
    }

    /// Shuts the socket down, so that libmicrohttpd closes the connection.
    mutating func close(_ connection: OpaquePointer) {
        guard let removed = connections.removeValue(forKey: connection) else { return }
        shutdown(removed.socket, Int32(SHUT_RDWR))
    }
}
