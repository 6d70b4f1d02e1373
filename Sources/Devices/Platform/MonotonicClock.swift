internal import CLinux
import Glibc

/// Time since an arbitrary start that never jumps, whatever the wall clock does.
package enum MonotonicClock {
    /// Nanoseconds on CLOCK_MONOTONIC; allocates nothing and makes no system call on usual machines.
    package static var nanoseconds: Int64 { read(CLOCK_MONOTONIC) }

    /// Seconds since 1970-01-01T00:00:00Z by the wall clock.
    package static var wallSeconds: Double {
        // Not by way of nanoseconds: a clock that nobody has set may be beyond 2262, where these end.
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Whether the wall clock has been set from a trusted source since the machine started.
    package static var wallIsSynchronized: Bool { fieldscribe_clock_is_synchronized() == 1 }

    /// CPU seconds that this process has used, and its children that have ended.
    package static var processSeconds: Double {
        [RUSAGE_SELF.rawValue, RUSAGE_CHILDREN.rawValue].reduce(0) { sum, who in
            var usage = rusage()
            getrusage(who, &usage)
            return sum + Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
                + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
        }
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
