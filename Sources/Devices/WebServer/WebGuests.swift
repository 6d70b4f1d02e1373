import Glibc
import Platform

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

    /// Somebody comes; where it is crowded, another leaves.
    mutating func come(_ connection: OpaquePointer, _ socket: Int32) {
        if guests.count >= WebServer.crowd {
            let waiting = guests.filter { !$0.value.isHeard }
            // Who has asked for a sound may take long to hear it, and asks for the rest again.
            let others = guests.count >= WebServer.throng ? guests : waiting
            if let slowest = (waiting.isEmpty ? others : waiting).min(by: { $0.value.since < $1.value.since }) {
                leave(slowest.key)
            }
        }
        guests[connection] = Guest(socket: socket, since: Self.now)
    }

    /// What it asks has come.
    mutating func hear(_ connection: OpaquePointer) { guests[connection]?.isHeard = true }

    /// It has been answered, or not any more.
    mutating func answered(_ connection: OpaquePointer) {
        guests[connection]?.isHeard = false
        guests[connection]?.since = Self.now
    }

    /// It is gone.
    mutating func go(_ connection: OpaquePointer) { guests[connection] = nil }

    /// Leaves those whose requests take too long to come.
    mutating func leaveSlow() {
        let latest = Self.now - WebServer.longestComing
        for (connection, guest) in guests where !guest.isHeard && guest.since < latest { leave(connection) }
    }

    /// Has the library find the connection ended, and close it.
    private mutating func leave(_ connection: OpaquePointer) {
        guard let guest = guests.removeValue(forKey: connection) else { return }
        shutdown(guest.socket, Int32(SHUT_RDWR))
    }
}
