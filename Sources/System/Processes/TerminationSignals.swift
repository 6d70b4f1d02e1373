import Glibc

/// The signals that terminate a process by default, except for SIGKILL, and for SIGPIPE and SIGXFSZ, which both
/// programs ignore.
enum TerminationSignals {
    /// The signals. Real-time signals start at 34, because glibc reserves the two below.
    static let all: [Int32] =
        [
            SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGPOLL, SIGPWR,
            SIGSTKFLT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP,
        ] + (34...64)

    private static let wakeup = Wakeup()
    private static let isPrepared = Wakeup()
    // Safety: each element is written once, before its signal's handler is installed, and only the handler reads it.
    nonisolated(unsafe) private static let previous = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)

    /// Calls `handler` on a separate thread after each of these signals. Simultaneous signals count as one. Call this
    /// only once per process.
    ///
    /// A fault in the process itself still terminates it. SIGHUP remains ignored if it was already ignored, for
    /// `nohup`.
    static func handle(_ handler: @escaping @Sendable () -> Void) {
        let hasStarted = startThread(named: "signals") {
            isPrepared.wait()
            unblock()
            while true {
                wakeup.wait()
                handler()
            }
        }
        // Signals must keep their default action if there is no thread to handle them.
        guard hasStarted else { return }
        for number in all { replaceAction(of: number) }
        isPrepared.signal()
    }

    /// Unblocks the signals on this thread, since the parent process may have blocked them.
    private static func unblock() {
        var numbers = sigset_t()
        sigemptyset(&numbers)
        for number in all { sigaddset(&numbers, number) }
        pthread_sigmask(SIG_UNBLOCK, &numbers, nil)
    }

    private static func replaceAction(of number: Int32) {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return }
        let isIgnored = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
        if number == SIGHUP, isIgnored { return }
        (previous + Int(number)).initialize(to: action)
        action = sigaction()
        action.sa_flags = SA_SIGINFO | SA_RESTART
        action.__sigaction_handler.sa_sigaction = { number, info, _ in
            let code = info?.pointee.si_code ?? 0
            // From the kernel, or from this process itself, for example by abort(3).
            let isOwnFault = code > 0 || info?.pointee._sifields._kill.si_pid == getpid()
            guard TerminationSignals.mayBeFault(number), isOwnFault else { return TerminationSignals.wakeup.signal() }
            // Restores the previous handler (sanitizers, Swift's backtraces). A signal from the kernel is raised again
            // after this handler returns.
            sigaction(number, TerminationSignals.previous + Int(number), nil)
            if code <= 0 { raise(number) }
        }
        sigaction(number, &action, nil)
    }

    private static func mayBeFault(_ number: Int32) -> Bool {
        switch number {
        case SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP: true
        default: false
        }
    }
}
