import Core
import Glibc
import System

/// When the blocks of a source that has no clock of its own are due: when a real microphone would have heard them.
struct Metronome {
    private let start: Int64
    private var samples: Int64 = 0

    /// - Parameter start: monotonic time of the first sample, in nanoseconds.
    init(start: Int64) { self.start = start }

    /// Takes a block on and returns the monotonic time of its end, in nanoseconds; errors do not add up.
    mutating func end(ofNext count: Int) -> Int64 {
        samples += Int64(count)
        let (seconds, rest) = samples.quotientAndRemainder(dividingBy: Int64(SamplePosition.rate))
        return start + seconds * 1_000_000_000 + rest * 1_000_000_000 / Int64(SamplePosition.rate)
    }

    /// Takes a block on and waits for its end; not at all where that has passed.
    mutating func wait(forNext count: Int) {
        MonotonicClock.sleep(until: end(ofNext: count))
    }
}
