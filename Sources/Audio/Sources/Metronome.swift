import Core
import Glibc
import System

/// Schedules the blocks of a source without a clock in real time.
struct Metronome {
    private let start: Int64
    private var samples: Int64 = 0

    /// - Parameter start: the monotonic time of the first sample, in nanoseconds.
    init(start: Int64) { self.start = start }

    /// Advances by a block and returns the monotonic time of its end, in nanoseconds; rounding errors do not accumulate.
    mutating func end(ofNext count: Int) -> Int64 {
        samples += Int64(count)
        let (seconds, rest) = samples.quotientAndRemainder(dividingBy: Int64(SamplePosition.rate))
        return start + seconds * 1_000_000_000 + rest * 1_000_000_000 / Int64(SamplePosition.rate)
    }

    /// Advances by a block and waits until its end.
    mutating func wait(forNext count: Int) {
        MonotonicClock.sleep(until: end(ofNext: count))
    }
}
