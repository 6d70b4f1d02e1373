/// Holds back a PCM that has no clock of its own (`null`, `file` over it) and so gives sound as fast as one reads.
///
/// Such a PCM shows itself at once: it runs ahead of real time. Whether it does is decided in the first ten seconds
/// and for good, since a sound card whose rate is a little high is ahead as well after some hours. Times are
/// monotonic nanoseconds.
struct Pacer: Sendable {
    private enum Verdict { case open, clocked, clockless }

    /// How far ahead of real time no device with a clock can be.
    static let allowedLead: Int64 = 500_000_000

    private let rate: Int64
    private let start: Int64
    private var frames: Int64 = 0
    private var verdict: Verdict

    /// - Parameter isClocked: known to have a clock, as every sound card has.
    init(rate: Int, start: Int64, isClocked: Bool) {
        self.rate = Int64(rate)
        self.start = start
        verdict = isClocked ? .clocked : .open
    }

    /// Says that a read gave frames; returns for how long to sleep before they are passed on.
    ///
    /// The lead that led to the verdict is given back a little with each block, so that no block comes late.
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
