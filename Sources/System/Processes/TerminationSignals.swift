import Glibc

/// The signals that terminate a process by default, except for SIGKILL, and for SIGPIPE and SIGXFSZ, which both
/// programs ignore.
enum TerminationSignals {
    /// The signal numbers. Real-time signals start at 34, because glibc reserves 32 and 33.
    static let all: [Int32] =
        [
            SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGPOLL, SIGPWR,
            SIGSTKFLT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP,
        ] + (34...64)

    private static let wakeup = Wakeup()
    private static let startSignal = Wakeup()
    // Safety: each element is written once, before its signal's handler is installed, and only the handler reads it.
    nonisolated(unsafe) private static let previousActions = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)

    /// Calls `handler` on a separate thread after each of these signals. Simultaneous signals count as one. Call this
    /// only once per process.
    ///
    /// A fault in the process itself still terminates it. SIGHUP remains ignored if it was already ignored, for
    /// `nohup`.
    static func handle(_ handler: @escaping @Sendable () -> Void) {
        let hasStarted = startThread(named: "signals") {
            startSignal.wait()
            unblock()
            while true {
                wakeup.wait()
                handler()
            }
        }
        // Signals must keep their default action if there is no thread to handle them.
        guard hasStarted else { return }
        for signal in all { replaceAction(of: signal) }
        startSignal.signal()
    }

    /// Unblocks the signals on this thread, since the parent process may have blocked them.
    private static func unblock() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in all { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    private static func replaceAction(of signal: Int32) {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return }
        let isIgnored = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
        if signal == SIGHUP, isIgnored { return }
        (previousActions + Int(signal)).initialize(to: action)
        action = sigaction()
        action.sa_flags = SA_SIGINFO | SA_RESTART
        action.__sigaction_handler.sa_sigaction = { signal, info, _ in
            let code = info?.pointee.si_code ?? 0
            // The kernel sent the signal, or this process itself did, for example with abort(3).
            let isOwnFault = code > 0 || info?.pointee._sifields._kill.si_pid == getpid()
            guard TerminationSignals.mayBeFault(signal), isOwnFault else { return TerminationSignals.wakeup.signal() }
            // Restores the previous handler (sanitizers, Swift's backtraces). After this handler returns, a fault
            // raises the kernel's signal again.
            sigaction(signal, TerminationSignals.previousActions + Int(signal), nil)
            if code <= 0 { raise(signal) }
        }
        sigaction(signal, &action, nil)
    }

    private static func mayBeFault(_ signal: Int32) -> Bool {
        switch signal {
        case SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP: true
        default: false
        }
    }
}
