import Core

/// Compares a microphone's sample count with the monotonic clock: a 48 kHz device that is read as 16 kHz is three times
/// too fast. Times are monotonic nanoseconds.
///
/// Blocks may arrive late, so only a deviation of more than 0.5 % plus 0.25 s counts.
struct RateWatch: Sendable {
    /// Ignores the first seconds: they include the preroll and what the driver had buffered.
    static let settling: Int64 = 5_000_000_000
    static let shortest: Int64 = 20_000_000_000

    /// The measurement restarts after this time, so that a late change is detected as fast as an early one.
    static let longest: Int64 = 600_000_000_000
    static let tolerance = 0.005
    static let lateness = 250e6

    private var opened: Int64?
    private var start: Int64?
    private var samples: Int64 = 0
    private var isWrong = false

    /// Adds a block that was captured or lost at `now`.
    ///
    /// - Returns: the relative deviation once the rate is wrong, 0 once it is correct again, else nil.
    mutating func append(_ count: Int, at now: Int64) -> Double? {
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
            // Takes at least 100 s.
            isWrong = false
        }
        if now - start >= Self.longest || isWrong != wasWrong {
            (self.start, samples) = (now, 0)
        }
        guard isWrong != wasWrong else { return nil }
        return isWrong ? lead / elapsed : 0
    }
}
