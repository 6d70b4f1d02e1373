internal import CLinux
import Glibc
import Synchronization

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
    package static var wallIsSynchronized: Bool {
        if isBelieved.load(ordering: .relaxed) { return true }
        return isSet(maximumError: fieldscribe_clock_maximum_error()) || isSetByTimesyncd
    }

    /// Whether the kernel may be asked about its clock; the service's sandbox, which protects the clock, forbids it.
    package static var mayAskKernel: Bool { fieldscribe_clock_maximum_error() >= 0 }

    /// Takes the wall clock for set from here on, since somebody who may ask the kernel says so.
    package static func believeWall() { isBelieved.store(true, ordering: .relaxed) }

    /// Whether a clock with that error was set. The kernel counts it up to 16 s from its start on; who sets the clock brings it
    /// down. What it tells besides, STA_UNSYNC, is also of who sets the clock but leaves the machine's other clock alone, as
    /// chrony does without `rtcsync`; so systemd does not ask for it either (`timedatectl`).
    ///
    /// - Parameter microseconds: below 0 where the kernel does not tell.
    static func isSet(maximumError microseconds: Int) -> Bool { (0..<16_000_000).contains(microseconds) }

    /// systemd-timesyncd's word: a file that is there once it has set the clock in this boot.
    private static var isSetByTimesyncd: Bool { access("/run/systemd/timesync/synchronized", F_OK) == 0 }

    private static let isBelieved = Atomic<Bool>(false)

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
