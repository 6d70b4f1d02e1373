import Glibc

/// The signals that end a process by default, except SIGKILL, and SIGPIPE and SIGXFSZ, which the programs ignore.
enum EndingSignals {
    /// glibc reserves the two below 34.
    static let all: [Int32] =
        [
            SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGPOLL, SIGPWR,
            SIGSTKFLT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP,
        ] + (34...64)

    private static let wakeup = Wakeup()
    private static let isPrepared = Wakeup()
    // Safety: each element is written once, before its signal's handler is installed, and only the handler reads it.
    nonisolated(unsafe) private static let previous = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)

    /// Calls `handler` on its own thread after each of these signals; simultaneous ones count as one. Call it once per
    /// process.
    ///
    /// A fault of the process itself still ends it. SIGHUP stays ignored if it was, for `nohup`.
    static func handle(_ handler: @escaping @Sendable () -> Void) {
        let isThere = startThread(named: "signals") {
            isPrepared.wait()
            unblock()
            while true {
                wakeup.wait()
                handler()
            }
        }
        // Without the thread, nobody would handle them.
        guard isThere else { return }
        for number in all { replaceAction(of: number) }
        isPrepared.signal()
    }

    /// Unblocks them on this thread: the parent process may have blocked them.
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
            // From the kernel, or from this process, as by abort(3).
            let isOurs = code > 0 || info?.pointee._sifields._kill.si_pid == getpid()
            guard EndingSignals.mayBeFault(number), isOurs else { return EndingSignals.wakeup.signal() }
            // Restores the previous handler (sanitizers, Swift's backtraces). The kernel's signal repeats after this
            // returns.
            sigaction(number, EndingSignals.previous + Int(number), nil)
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
