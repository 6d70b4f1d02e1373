/// Slows down a PCM without a clock (`null`, or `file` over it), which delivers audio as fast as it is read.
///
/// Such a PCM runs ahead of real time. This is decided once, in the first ten seconds: after some hours, a sound card
/// with a slightly high rate is ahead, too. Times are monotonic nanoseconds.
struct Pacer: Sendable {
    private enum Verdict { case open, clocked, clockless }

    /// A device with a clock never gets further ahead than this.
    static let allowedLead: Int64 = 500_000_000

    private let rate: Int64
    private let start: Int64
    private var frames: Int64 = 0
    private var verdict: Verdict

    /// - Parameter isClocked: whether it is known to have a clock, like every sound card.
    init(rate: Int, start: Int64, isClocked: Bool) {
        self.rate = Int64(rate)
        self.start = start
        verdict = isClocked ? .clocked : .open
    }

    /// Adds the frames of a read; returns how long to sleep before passing them on.
    ///
    /// The initial lead is reduced a little with each block, so that no block is late.
    mutating func pause(after count: Int, at now: Int64) -> Int64 {
        guard verdict != .clocked else { return 0 }
        frames += Int64(count)
        let lead = nanoseconds(frames) - (now - start)
        if verdict == .open {
            if lead > Self.allowedLead {
                verdict = .clockless
            } else if now - start > 10_000_000_000 {
                verdict = .clocked
            }
        }
        guard verdict == .clockless, lead > 0 else { return 0 }
        return min(lead, nanoseconds(Int64(count)) * 5 / 4)
    }

    private func nanoseconds(_ frames: Int64) -> Int64 {
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: rate)
        return seconds * 1_000_000_000 + rest * 1_000_000_000 / rate
    }
}
