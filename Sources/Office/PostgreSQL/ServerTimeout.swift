import Core
import Glibc
import System

/// How long to wait for a server, and what to call while waiting.
package struct ServerTimeout: Sendable {
    /// The timeout of a statement, in seconds.
    let seconds: Int
    /// Called once during each long wait.
    private let tell: @Sendable (String) -> Void
    private let isEnding: @Sendable () -> Bool

    /// - Parameters:
    ///   - seconds: the timeout of a statement; at least 6.
    ///   - tell: called once in each long wait, with one line for the user.
    ///   - isEnding: whether the process should end; called several times a second.
    package init(
        seconds: Int = 60, tell: @escaping @Sendable (String) -> Void = { _ in },
        isEnding: @escaping @Sendable () -> Bool = { false }
    ) {
        self.seconds = max(6, seconds)
        self.tell = tell
        self.isEnding = isEnding
    }

    /// One wait, from a request to its answer.
    struct Wait {
        let name: String
        let timeout: ServerTimeout
        /// The timeout in seconds; nil for none.
        let limit: Int?
        private var since = MonotonicClock.nanoseconds
        private var isTold = false

        init(for name: String, _ timeout: ServerTimeout, limit: Int?) {
            self.name = name
            self.timeout = timeout
            self.limit = limit
        }

        /// Restarts the timeout, because the server has sent something.
        mutating func restart() { since = MonotonicClock.nanoseconds }

        /// Waits until a socket is readable or writable, by poll(2).
        ///
        /// - Throws: `DeviceError` with `busy`; its status is `ETIMEDOUT` after the timeout, `ECANCELED` if the process
        ///   should end.
        mutating func wait(on socket: Int32, for events: Int32) throws(DeviceError) {
            while true {
                var poll = pollfd(fd: socket, events: Int16(events), revents: 0)
                if Glibc.poll(&poll, 1, 200) > 0 { return }
                if timeout.isEnding() {
                    throw DeviceError(
                        .busy, "poll", status: ECANCELED, on: name, "was interrupted while it did not answer")
                }
                let seconds = Int((MonotonicClock.nanoseconds - since) / 1_000_000_000)
                if let limit, seconds >= limit {
                    throw DeviceError(
                        .busy, "poll", status: ETIMEDOUT, on: name, "has not answered for \(seconds) s",
                        remedy:
                            "check that the server runs, and that no other program's transaction holds a lock"
                            + " (pg_stat_activity); then run it again: incomplete changes were rolled back")
                }
                guard !isTold, seconds >= min(8, (limit ?? timeout.seconds) / 2) else { continue }
                isTold = true
                let most = limit.map { ", at most \($0) s" } ?? ""
                timeout.tell(
                    "\(name): no answer for \(seconds) s; waiting for the server, or for another program that holds a lock\(most)"
                )
            }
        }
    }
}
