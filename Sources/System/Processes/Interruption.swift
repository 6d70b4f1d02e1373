import Glibc

/// Makes a system call, again as often as a signal has interrupted it: the one place that knows of EINTR.
///
/// - Parameter call: returns -1 where it fails, with the reason in `errno`.
/// - Returns: what the call returned in the end; `errno` is as it left that.
package func uninterrupted<Number: FixedWidthInteger>(_ call: () -> Number) -> Number {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

extension MonotonicClock {
    /// Sleeps until a time, in nanoseconds on CLOCK_MONOTONIC; not at all where that has passed.
    package static func sleep(until nanoseconds: Int64) {
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        // This call returns its error.
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}
