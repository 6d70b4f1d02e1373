internal import CLinux
import Core
import Glibc

/// The state that a process inherits from its parent.
package enum Inheritance {
    /// Repairs inherited state. The first call of a program.
    ///
    /// - Opens closed standard streams on `/dev/null`; otherwise a file of the archive could get their number, and
    ///   printed text.
    /// - Resets SIGCHLD; if ignored, the kernel discards exit statuses.
    /// - Sets a umask that keeps all of the owner's permissions.
    /// - Gives threads stacks of at least 1 MiB.
    package static func repair() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // open(2) returns the lowest free number.
            _ = open("/dev/null", O_RDWR)
        }
        signal(SIGCHLD, SIG_DFL)
        let mask = umask(0o077)
        umask(mask & 0o077)
        fieldscribe_widen_stacks()
    }

    /// Checks that the system permits enough threads, because Swift's executor waits silently for missing ones.
    ///
    /// - Parameter count: The number that the program needs at a time.
    /// - Throws: `DeviceError` if the system permits fewer.
    static func checkThreads(_ count: Int) throws(DeviceError) {
        var threads: [(end: Wakeup, ended: Wakeup)] = []
        defer {
            for thread in threads { thread.end.signal() }
            for thread in threads { thread.ended.wait() }
        }
        for number in 1...count {
            let (end, ended) = (Wakeup(), Wakeup())
            let isThere = startThread(named: "check") {
                end.wait()
                ended.signal()
            }
            guard isThere else {
                throw DeviceError(
                    .failed, "pthread_create", on: "the system", "cannot create thread \(number) of \(count)",
                    remedy: "raise the limit (ulimit -u or -v, TasksMax= of the unit, pids.max of the container)")
            }
            threads.append((end, ended))
        }
    }
}
