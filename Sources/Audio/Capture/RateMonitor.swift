import Core

/// Compares a microphone's sample count with the monotonic clock. For example, a 48 kHz device that is read as 16 kHz
/// is three times too fast. Times are in nanoseconds on the monotonic clock.
///
/// Since blocks may arrive late, only a deviation of more than 0.5 % plus 0.25 s counts.
struct RateMonitor: Sendable {
    /// The initial time to ignore, because the preroll and audio buffered by the driver arrive then.
    static let settling: Int64 = 5_000_000_000
    /// The minimum duration of a measurement.
    static let minimumDuration: Int64 = 20_000_000_000

    /// The maximum duration of a measurement, which then restarts, so that a late change is detected as fast as an
    /// early one.
    static let maximumDuration: Int64 = 600_000_000_000
    static let tolerance = 0.005
    static let lateness = 250e6

    private var openedAt: Int64?
    private var start: Int64?
    private var samples: Int64 = 0
    private var isWrong = false

    /// Adds samples that were captured or lost at `now`.
    ///
    /// - Returns: The relative deviation when the rate becomes wrong, 0 when it becomes correct again; otherwise nil.
    mutating func append(_ count: Int, at now: Int64) -> Double? {
        guard let openedAt else {
            self.openedAt = now
            return nil
        }
        guard let start else {
            if now - openedAt >= Self.settling { self.start = now }
            return nil
        }
        samples += Int64(count)
        let elapsed = Double(now - start)
        guard now - start >= Self.minimumDuration else { return nil }
        let lead = Double(samples) / Double(SamplePosition.rate) * 1e9 - elapsed
        let wasWrong = isWrong
        if abs(lead) > Self.tolerance * elapsed + Self.lateness {
            isWrong = true
        } else if abs(lead) < Self.tolerance / 2 * elapsed - Self.lateness {
            // Impossible in the first 100 s, because the right side is negative.
            isWrong = false
        }
        if now - start >= Self.maximumDuration || isWrong != wasWrong {
            (self.start, samples) = (now, 0)
        }
        guard isWrong != wasWrong else { return nil }
        return isWrong ? lead / elapsed : 0
    }
}
