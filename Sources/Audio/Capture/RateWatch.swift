import Core

/// Compares the samples of a microphone with the monotonic clock: one at 48 kHz that is taken for 16 kHz is three times
/// too fast. Pure; times are monotonic nanoseconds.
///
/// Blocks may come late, so a deviation counts once it is beyond 0.5 % and a quarter of a second.
struct RateWatch: Sendable {
    /// What comes in the first seconds, a pre-roll or what a driver had kept, does not count.
    static let settling: Int64 = 5_000_000_000
    static let shortest: Int64 = 20_000_000_000

    /// After so long it begins anew, so that a change late in a day is noticed as soon as an early one.
    static let longest: Int64 = 600_000_000_000
    static let tolerance = 0.005
    static let lateness = 250e6

    private var opened: Int64?
    private var start: Int64?
    private var samples: Int64 = 0
    private var isWrong = false

    init() {}

    /// Takes a block that came, or was found lost, now.
    ///
    /// - Returns: the deviation of a rate that has turned out wrong, as a share of 16 kHz; 0 where it is right again.
    mutating func heard(_ count: Int, at now: Int64) -> Double? {
        guard let opened else {
            self.opened = now
            return nil
        }
        guard let start else {
            if now - opened >= Self.settling { self.start = now }
            return nil
        }
        samples += Int64(count)
        let elapsed = Double(now - start)
        guard now - start >= Self.shortest else { return nil }
        let lead = Double(samples) / Double(SamplePosition.rate) * 1e9 - elapsed
        let wasWrong = isWrong
        if abs(lead) > Self.tolerance * elapsed + Self.lateness {
            isWrong = true
        } else if abs(lead) < Self.tolerance / 2 * elapsed - Self.lateness {
            // So it takes 100 s at the least.
            isWrong = false
        }
        if now - start >= Self.longest || isWrong != wasWrong {
            (self.start, samples) = (now, 0)
        }
        guard isWrong != wasWrong else { return nil }
        return isWrong ? lead / elapsed : 0
    }
}
