internal import CLinux
import Core
import Glibc

/// The state that a process inherits from its parent.
package enum InheritedState {
    /// Repairs inherited state. Must be the first call in a program.
    ///
    /// - Opens `/dev/null` for closed standard streams. Otherwise a file in the archive could get the number of such a
    ///   stream and receive printed text.
    /// - Resets SIGCHLD, because the kernel discards exit statuses if it is ignored.
    /// - Sets a umask that keeps all of the owner's permissions.
    /// - Gives threads stacks of at least 1 MiB.
    package static func repair() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // open(2) returns the lowest unused descriptor.
            _ = open("/dev/null", O_RDWR)
        }
        signal(SIGCHLD, SIG_DFL)
        let mask = umask(0o077)
        umask(mask & 0o077)
        fieldscribe_widen_stacks()
    }

    /// Checks that the system permits enough threads, because Swift's executor waits silently if it cannot create one.
    ///
    /// - Parameter count: The number of threads that the program needs at the same time.
    /// - Throws: `DeviceError` if the system permits fewer threads.
    static func checkThreads(_ count: Int) throws(DeviceError) {
        var threads: [(stop: Wakeup, stopped: Wakeup)] = []
        defer {
            for thread in threads { thread.stop.signal() }
            for thread in threads { thread.stopped.wait() }
        }
        for ordinal in 1...count {
            let (stop, stopped) = (Wakeup(), Wakeup())
            let hasStarted = startThread(named: "check") {
                stop.wait()
                stopped.signal()
            }
            guard hasStarted else {
                throw DeviceError(
                    .failed, "pthread_create", on: "the system", "cannot create thread \(ordinal) of \(count)",
                    remedy: "raise the limit (ulimit -u or -v, TasksMax= in the unit, pids.max of the container)")
            }
            threads.append((stop, stopped))
        }
    }
}
