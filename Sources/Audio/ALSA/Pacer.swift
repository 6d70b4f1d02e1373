/// Slows down reading from a PCM without a clock (`null`, or `file` on top of it), which delivers audio as fast as it
/// is read.
///
/// Such a PCM runs ahead of real time. Only the first ten seconds decide whether there is a clock, because a sound card
/// with a slightly high rate is also ahead after some hours. Times are in nanoseconds on the monotonic clock.
struct Pacer: Sendable {
    private enum Clocking { case undecided, clocked, unclocked }

    /// The maximum lead of a device with a clock, in nanoseconds.
    static let maximumLead: Int64 = 500_000_000

    private let rate: Int64
    private let start: Int64
    private var frames: Int64 = 0
    private var clocking: Clocking

    /// - Parameter isClocked: Whether the device is known to have a clock, as every sound card does.
    init(rate: Int, start: Int64, isClocked: Bool) {
        self.rate = Int64(rate)
        self.start = start
        clocking = isClocked ? .clocked : .undecided
    }

    /// Adds frames that were read. Returns how long to sleep, in nanoseconds, before passing them on.
    ///
    /// The initial lead is reduced a little with each block, so that no block is late.
    mutating func pause(after count: Int, at now: Int64) -> Int64 {
        guard clocking != .clocked else { return 0 }
        frames += Int64(count)
        let lead = nanoseconds(frames) - (now - start)
        if clocking == .undecided {
            if lead > Self.maximumLead {
                clocking = .unclocked
            } else if now - start > 10_000_000_000 {
                clocking = .clocked
            }
        }
        guard clocking == .unclocked, lead > 0 else { return 0 }
        return min(lead, nanoseconds(Int64(count)) * 5 / 4)
    }

    private func nanoseconds(_ frames: Int64) -> Int64 {
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: rate)
        return seconds * 1_000_000_000 + rest * 1_000_000_000 / rate
    }
}
