import Glibc

/// The signals that end a process unless it catches them: all but SIGKILL, and SIGPIPE and SIGXFSZ, which the programs ignore.
package enum EndingSignals {
    /// The usual ones first. glibc keeps the two below 34 for itself.
    static let all: [Int32] =
        [
            SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGPOLL, SIGPWR,
            SIGSTKFLT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP,
        ] + (34...64)

    private static let wakeup = Wakeup()
    private static let isPrepared = Wakeup()
    // Safety: each place is written once, before its signal has a handler of ours, and only read by that.
    nonisolated(unsafe) private static let previous = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)

    /// Calls `handler` on a thread of its own after each of these signals; several that come at once count as one. Call it once a
    /// process.
    ///
    /// A fault of the process itself still ends it. SIGHUP stays ignored if it was, as `nohup` wants it.
    package static func handle(_ handler: @escaping @Sendable () -> Void) {
        let isThere = startThread(named: "signals") {
            isPrepared.wait()
            unblock()
            while true {
                wakeup.wait()
                handler()
            }
        }
        // Without a thread nobody would act on them.
        guard isThere else { return }
        for number in all { replaceAction(of: number) }
        isPrepared.signal()
    }

    /// Lets this thread have them: who has started the process may have blocked them.
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
            // From the kernel, or from this process itself, as by abort.
            let isOurs = code > 0 || info?.pointee._sifields._kill.si_pid == getpid()
            guard EndingSignals.mayBeFault(number), isOurs else { return EndingSignals.wakeup.signal() }
            // Sanitizers and Swift's backtraces have handlers of their own. The kernel's comes again once this returns.
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
