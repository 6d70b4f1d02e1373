internal import CLinux
import Glibc
import Synchronization

/// The clocks of the system. The monotonic one never jumps.
package enum MonotonicClock {
    /// Nanoseconds on CLOCK_MONOTONIC; does not allocate, and needs no system call on usual machines.
    package static var nanoseconds: Int64 { read(CLOCK_MONOTONIC) }

    /// Seconds on CLOCK_MONOTONIC.
    package static var seconds: Double { Double(nanoseconds) / 1e9 }

    /// Seconds since 1970-01-01T00:00:00Z by the wall clock.
    package static var wallSeconds: Double {
        // Not in nanoseconds: an unset clock may be after 2262, their limit.
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Whether the wall clock has been set from a trusted source since the machine started.
    package static var wallIsSynchronized: Bool {
        if isBelieved.load(ordering: .relaxed) { return true }
        return isSet(maximumError: fieldscribe_clock_maximum_error()) || isSetByTimesyncd
    }

    /// Whether the kernel reports its clock's state; the service's sandbox (ProtectClock=) forbids it.
    package static var mayAskKernel: Bool { fieldscribe_clock_maximum_error() >= 0 }

    /// Treats the wall clock as set, on the word of a process that may ask the kernel.
    package static func believeWall() { isBelieved.store(true, ordering: .relaxed) }

    /// Whether a clock with this maximum error was set: the kernel starts at 16 s and reports less once it was set.
    ///
    /// STA_UNSYNC is not used: it stays set if the real-time clock is not adjusted too, as by chrony without `rtcsync`.
    /// systemd's `timedatectl` does the same.
    ///
    /// - Parameter microseconds: Below 0 if unknown.
    static func isSet(maximumError microseconds: Int) -> Bool { (0..<16_000_000).contains(microseconds) }

    /// The file that systemd-timesyncd creates after it set the clock in this boot.
    private static var isSetByTimesyncd: Bool { access("/run/systemd/timesync/synchronized", F_OK) == 0 }

    private static let isBelieved = Atomic<Bool>(false)

    /// CPU seconds of this process and its ended children.
    package static var processSeconds: Double {
        [RUSAGE_SELF.rawValue, RUSAGE_CHILDREN.rawValue].reduce(0) { sum, who in
            var usage = rusage()
            getrusage(who, &usage)
            return sum + Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
                + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
        }
    }

    /// Sleeps until a time in nanoseconds on CLOCK_MONOTONIC; returns immediately if it has passed.
    package static func sleep(until nanoseconds: Int64) {
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        // This call returns its error instead of setting errno.
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }

    /// Returns nanoseconds.
    static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
