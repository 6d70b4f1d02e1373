import Glibc

/// Repeats a system call while a signal interrupts it (EINTR).
///
/// - Parameter call: Returns -1 on failure, with the reason in `errno`.
/// - Returns: The last result; `errno` is unchanged.
package func uninterrupted<Number: FixedWidthInteger>(_ call: () -> Number) -> Number {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

extension MonotonicClock {
    /// Sleeps until a time in nanoseconds on CLOCK_MONOTONIC; returns immediately if it has passed.
    package static func sleep(until nanoseconds: Int64) {
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        // This call returns its error instead of setting errno.
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}
