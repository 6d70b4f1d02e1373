import Glibc
import System

/// Connections that are open, each by its handle, and who of them has to leave where there are too many: a server waits for what browsers
/// ask, and whoever asks nothing, or a letter at a time, could have all of its places.
struct WebGuests {
    private struct Guest {
        let socket: Int32
        /// When it came, or was answered last, in seconds.
        var since: Double
        /// Whether all that it asks has come, so that it waits for us.
        var isHeard = false
    }

    private var guests: [OpaquePointer: Guest] = [:]

    private static var now: Double { Double(MonotonicClock.nanoseconds) / 1e9 }

    /// Somebody comes; where it is crowded, another leaves, who is returned.
    mutating func come(_ connection: OpaquePointer, _ socket: Int32) -> OpaquePointer? {
        var left: OpaquePointer?
        if guests.count >= WebServer.crowd {
            let waiting = guests.filter { !$0.value.isHeard }
            // Who has asked for a sound may take long to hear it, and asks for the rest again.
            let others = guests.count >= WebServer.throng ? guests : waiting
            if let slowest = (waiting.isEmpty ? others : waiting).min(by: { $0.value.since < $1.value.since }) {
                left = slowest.key
                leave(slowest.key)
            }
        }
        guests[connection] = Guest(socket: socket, since: Self.now)
        return left
    }

    /// What it asks has come.
    mutating func hear(_ connection: OpaquePointer) { guests[connection]?.isHeard = true }

    /// Whether all that it asks has come.
    func isHeard(_ connection: OpaquePointer) -> Bool { guests[connection]?.isHeard ?? false }

    /// It has been answered, or not any more.
    mutating func answered(_ connection: OpaquePointer) {
        guests[connection]?.isHeard = false
        guests[connection]?.since = Self.now
    }

    /// It is gone.
    mutating func go(_ connection: OpaquePointer) { guests[connection] = nil }

    /// Leaves those whose requests take too long to come, who are returned.
    mutating func leaveSlow() -> [OpaquePointer] {
        let latest = Self.now - WebServer.longestComing
        let slow = guests.filter { !$0.value.isHeard && $0.value.since < latest }.map(\.key)
        for connection in slow { leave(connection) }
        return slow
    }

    /// Has the library find the connection ended, and close it.
    mutating func leave(_ connection: OpaquePointer) {
        guard let guest = guests.removeValue(forKey: connection) else { return }
        shutdown(guest.socket, Int32(SHUT_RDWR))
    }
}
