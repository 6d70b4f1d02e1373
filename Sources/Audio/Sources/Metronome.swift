import Core
import Glibc
import System

/// Schedules blocks in real time for a source without a clock.
struct Metronome {
    private let start: Int64
    private var samples: Int64 = 0

    /// - Parameter start: The time of the first sample, in nanoseconds on the monotonic clock.
    init(start: Int64) { self.start = start }

    /// Advances by a block. Returns the time of its end, in nanoseconds on the monotonic clock. Rounding errors do not
    /// accumulate.
    mutating func end(ofNext count: Int) -> Int64 {
        samples += Int64(count)
        let (seconds, rest) = samples.quotientAndRemainder(dividingBy: Int64(SamplePosition.rate))
        return start + seconds * 1_000_000_000 + rest * 1_000_000_000 / Int64(SamplePosition.rate)
    }

    /// Advances by a block and sleeps until its end.
    mutating func wait(forNext count: Int) {
        MonotonicClock.sleep(until: end(ofNext: count))
    }
}
