import Glibc
import System

/// The open connections. If there are too many, closes the one that has been idle longest: clients that send nothing, or
/// one byte at a time, could otherwise occupy all connections.
struct WebGuests {
    private struct Guest {
        let socket: Int32
        /// When it was accepted or last answered, in seconds.
        var since: Double
        /// Whether its request was received completely, so that we have to answer.
        var isHeard = false
    }

    private var guests: [OpaquePointer: Guest] = [:]

    private static var now: Double { Double(MonotonicClock.nanoseconds) / 1e9 }

    /// Adds a connection. If there are too many, closes another one and returns it.
    mutating func come(_ connection: OpaquePointer, _ socket: Int32) -> OpaquePointer? {
        var left: OpaquePointer?
        if guests.count >= WebServer.crowd {
            let waiting = guests.filter { !$0.value.isHeard }
            // A client that plays a sound reads slowly; if closed, it requests the rest again.
            let others = guests.count >= WebServer.throng ? guests : waiting
            if let slowest = (waiting.isEmpty ? others : waiting).min(by: { $0.value.since < $1.value.since }) {
                left = slowest.key
                leave(slowest.key)
            }
        }
        guests[connection] = Guest(socket: socket, since: Self.now)
        return left
    }

    /// Notes that a request was received completely.
    mutating func hear(_ connection: OpaquePointer) { guests[connection]?.isHeard = true }

    /// Whether a request was received completely.
    func isHeard(_ connection: OpaquePointer) -> Bool { guests[connection]?.isHeard ?? false }

    /// Notes that a request was answered or has failed.
    mutating func answered(_ connection: OpaquePointer) {
        guests[connection]?.isHeard = false
        guests[connection]?.since = Self.now
    }

    /// Removes a closed connection.
    mutating func go(_ connection: OpaquePointer) { guests[connection] = nil }

    /// Closes connections whose requests take too long, and returns them.
    mutating func leaveSlow() -> [OpaquePointer] {
        let latest = Self.now - WebServer.longestComing
        let slow = guests.filter { !$0.value.isHeard && $0.value.since < latest }.map(\.key)
        for connection in slow { leave(connection) }
        return slow
    }

    /// Shuts the socket down, so that libmicrohttpd closes the connection.
    mutating func leave(_ connection: OpaquePointer) {
        guard let guest = guests.removeValue(forKey: connection) else { return }
        shutdown(guest.socket, Int32(SHUT_RDWR))
    }
}
