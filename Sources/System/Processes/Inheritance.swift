internal import CLinux
import Core
import Glibc

/// What a process has from whoever started it.
package enum Inheritance {
    /// Repairs what would do harm; the first call of a program.
    ///
    /// - Standard streams that are closed lead to `/dev/null`. Else a file of the archive gets their number, and what is printed.
    /// - SIGCHLD has its default action. If it is ignored, the kernel forgets how children ended.
    /// - The umask leaves the owner of a file all rights.
    /// - Threads have stacks of at least 1 MiB.
    package static func repair() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // It gets the lowest number that is free.
            _ = open("/dev/null", O_RDWR)
        }
        signal(SIGCHLD, SIG_DFL)
        let mask = umask(0o077)
        umask(mask & 0o077)
        fieldscribe_widen_stacks()
    }

    /// Starts threads for a moment, since Swift's own executor waits without a word for those that the system refuses.
    ///
    /// - Parameter count: how many the program needs at a time.
    /// - Throws: `DeviceError` if the system allows fewer.
    package static func checkThreads(_ count: Int) throws(DeviceError) {
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
                    .failed, "pthread_create", on: "the system", "refuses thread \(number) of \(count)",
                    remedy: "raise the limit (ulimit -u, TasksMax= of the unit, pids.max of the container)")
            }
            threads.append((end, ended))
        }
    }
}
