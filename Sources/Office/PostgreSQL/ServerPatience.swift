import Core
import Glibc
import System

/// How long a server is waited for, and who hears of it.
package struct ServerPatience: Sendable {
    /// A statement may go so long without an answer, in seconds.
    let seconds: Int
    /// Hears once in each long wait what is waited for.
    private let tell: @Sendable (String) -> Void
    private let isEnding: @Sendable () -> Bool

    /// - Parameters:
    ///   - seconds: so long may a statement go without an answer; at least 6.
    ///   - tell: hears once in each long wait what is waited for, in one line.
    ///   - isEnding: whether nobody wants the answer any more; asked several times a second.
    package init(
        seconds: Int = 60, tell: @escaping @Sendable (String) -> Void = { _ in },
        isEnding: @escaping @Sendable () -> Bool = { false }
    ) {
        self.seconds = max(6, seconds)
        self.tell = tell
        self.isEnding = isEnding
    }

    /// One wait.
    struct Wait {
        /// What is waited for: the server's name.
        let name: String
        let patience: ServerPatience
        /// In seconds; nil: as long as it takes.
        let limit: Int?
        private var since = MonotonicClock.nanoseconds
        private var isTold = false

        init(for name: String, _ patience: ServerPatience, limit: Int?) {
            self.name = name
            self.patience = patience
            self.limit = limit
        }

        /// The server has sent something.
        mutating func restart() { since = MonotonicClock.nanoseconds }

        /// Waits until a socket can be read or written, as poll(2) counts that.
        ///
        /// - Throws: `DeviceError` with `busy`, and `ETIMEDOUT` as its status, where the limit is reached; with `ECANCELED` where the
        ///   process ends.
        mutating func wait(on socket: Int32, for events: Int32) throws(DeviceError) {
            while true {
                var poll = pollfd(fd: socket, events: Int16(events), revents: 0)
                if Glibc.poll(&poll, 1, 200) > 0 { return }
                if patience.isEnding() {
                    throw DeviceError(.busy, "poll", status: ECANCELED, on: name, "was not waited for any longer")
                }
                let seconds = Int((MonotonicClock.nanoseconds - since) / 1_000_000_000)
                if let limit, seconds >= limit {
                    throw DeviceError(
                        .busy, "poll", status: ETIMEDOUT, on: name, "has not answered for \(seconds) s",
                        remedy:
                            "look whether the server runs, and whether another program's transaction holds what is asked for"
                            + " (pg_stat_activity); then run it again: what was not complete was not taken")
                }
                guard !isTold, seconds >= min(8, (limit ?? patience.seconds) / 2) else { continue }
                isTold = true
                let most = limit.map { ", at most \($0) s" } ?? ""
                patience.tell(
                    "\(name): no answer for \(seconds) s; waiting for the server, or for another program that holds a lock\(most)"
                )
            }
        }
    }
}
