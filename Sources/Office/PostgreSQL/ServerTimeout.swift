import Core
import Glibc
import System

/// The timeout for a server, and functions to call while waiting for it.
package struct ServerTimeout: Sendable {
    let seconds: Int
    private let report: @Sendable (String) -> Void
    private let shouldStop: @Sendable () -> Bool

    /// - Parameters:
    ///   - seconds: the timeout for a statement, at least 6.
    ///   - report: called once during each long wait, with a line for the user.
    ///   - shouldStop: called five times a second; if it returns true, waiting stops with an error.
    package init(
        seconds: Int = 60, report: @escaping @Sendable (String) -> Void = { _ in },
        shouldStop: @escaping @Sendable () -> Bool = { false }
    ) {
        self.seconds = max(6, seconds)
        self.report = report
        self.shouldStop = shouldStop
    }

    /// The wait for the answer to a request.
    struct Wait {
        let name: String
        let timeout: ServerTimeout
        /// The timeout in seconds; nil for none.
        let limit: Int?
        /// When the wait began or was restarted, in nanoseconds.
        private var start = MonotonicClock.nanoseconds
        private var isReported = false

        init(for name: String, _ timeout: ServerTimeout, limit: Int?) {
            self.name = name
            self.timeout = timeout
            self.limit = limit
        }

        /// Restarts the timeout. Called when the server has sent something.
        mutating func restart() { start = MonotonicClock.nanoseconds }

        /// Waits with poll(2) until a socket is readable or writable.
        ///
        /// - Throws: `DeviceError` with `busy` and the status `ETIMEDOUT` after the timeout, or `ECANCELED` if `shouldStop`
        ///   returned true.
        mutating func wait(on socket: Int32, for events: Int32) throws(DeviceError) {
            while true {
                var poll = pollfd(fd: socket, events: Int16(events), revents: 0)
                if Glibc.poll(&poll, 1, 200) > 0 { return }
                if timeout.shouldStop() {
                    throw DeviceError(
                        .busy, "poll", status: ECANCELED, on: name, "did not answer before the process was interrupted")
                }
                let seconds = Int((MonotonicClock.nanoseconds - start) / 1_000_000_000)
                if let limit, seconds >= limit {
                    throw DeviceError(
                        .busy, "poll", status: ETIMEDOUT, on: name, "has not answered for \(seconds) s",
                        remedy:
                            "check that the server runs, and that no other program's transaction holds a lock"
                            + " (pg_stat_activity); then run the command again: incomplete changes were rolled back")
                }
                guard !isReported, seconds >= min(8, (limit ?? timeout.seconds) / 2) else { continue }
                isReported = true
                let maximum = limit.map { ", at most \($0) s" } ?? ""
                timeout.report(
                    "\(name): no answer for \(seconds) s; waiting for the server, or for another program that holds a "
                        + "lock\(maximum)")
            }
        }
    }
}
