internal import CLinux
import Glibc
import Synchronization

/// The system's clocks. The monotonic clock never jumps.
package enum MonotonicClock {
    /// Nanoseconds on CLOCK_MONOTONIC. Does not allocate, and on most machines needs no system call.
    package static var nanoseconds: Int64 { read(CLOCK_MONOTONIC) }

    package static var seconds: Double { Double(nanoseconds) / 1e9 }

    /// Seconds since 1970-01-01T00:00:00Z according to the wall clock.
    package static var wallSeconds: Double {
        // Not computed from nanoseconds: a wrong clock may show a date after 2262, when they overflow an Int64.
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Whether the wall clock has been set from a trusted source since the machine started.
    package static var wallIsSynchronized: Bool {
        if isTrusted.load(ordering: .relaxed) { return true }
        return isSet(maximumError: fieldscribe_clock_maximum_error()) || isSetByTimesyncd
    }

    /// Whether the kernel may be asked for the state of its clock, which the service's sandbox (ProtectClock=) forbids.
    package static var canQueryKernel: Bool { fieldscribe_clock_maximum_error() >= 0 }

    /// Treats the wall clock as set. Called when a process that may ask the kernel reports that it is.
    package static func trustWallClock() { isTrusted.store(true, ordering: .relaxed) }

    /// Returns whether a clock with this maximum error was set. The kernel starts at 16 s and reports less once the
    /// clock was set.
    ///
    /// Like systemd's `timedatectl`, this ignores STA_UNSYNC, which remains set if the real-time clock is not adjusted
    /// too, for example with chrony without `rtcsync`.
    ///
    /// - Parameter microseconds: The maximum error; negative if unknown.
    static func isSet(maximumError microseconds: Int) -> Bool { (0..<16_000_000).contains(microseconds) }

    /// Whether the file exists that systemd-timesyncd creates after setting the clock in this boot.
    private static var isSetByTimesyncd: Bool { access("/run/systemd/timesync/synchronized", F_OK) == 0 }

    private static let isTrusted = Atomic<Bool>(false)

    /// The CPU time, in seconds, of this process and its children that have exited.
    package static var processSeconds: Double {
        [RUSAGE_SELF.rawValue, RUSAGE_CHILDREN.rawValue].reduce(0) { sum, who in
            var usage = rusage()
            getrusage(who, &usage)
            return sum + Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
                + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
        }
    }

    /// Sleeps until a time in nanoseconds on CLOCK_MONOTONIC. Returns immediately if the time has passed.
    package static func sleep(until nanoseconds: Int64) {
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        // This call returns its error instead of setting errno.
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }

    /// Reads a clock in nanoseconds.
    static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
