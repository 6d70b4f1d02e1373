/// Measures how much audio is missing after an overrun, using the monotonic clock.
///
/// Tracks the minimum difference between the clock and the delivered frames, which the reads with the least delay
/// determine. A sound card may be 500 ppm faster or slower than the clock. Times are in nanoseconds on the monotonic
/// clock.
struct CaptureClock: Sendable {
    /// The maximum deviation of a sound card's rate.
    static let drift = 500e-6

    /// The number of frames delivered or lost since the start.
    private(set) var frames: Int64 = 0

    private let rate: Double
    private let start: Int64
    private var lastRead: Int64
    /// The minimum difference between the clock and the delivered frames, in nanoseconds.
    private var anchor: Double?
    /// The time from the device's start to its first frame, in nanoseconds.
    private var startDelay = 0.0

    /// - Parameters:
    ///   - rate: The nominal rate in Hz.
    ///   - start: The time at which the device was started.
    init(rate: Int, start: Int64) {
        self.rate = Double(rate)
        self.start = start
        lastRead = start
    }

    mutating func delivered(_ count: Int, at now: Int64) {
        frames += Int64(count)
        let offset = Double(now - start) - Double(frames) / rate * 1e9
        let slack = Self.drift * Double(max(0, now - lastRead))
        let isFirst = anchor == nil
        anchor = min(offset, (anchor ?? offset) + slack)
        // Only at the beginning, because the card's drift would count as delay later.
        if Double(frames) <= 2 * rate { startDelay = max(0, isFirst ? offset : min(startDelay, offset)) }
        lastRead = now
    }

    /// Handles a restart after an overrun. Returns the number of missing frames.
    mutating func restarted(at now: Int64) -> Int64 {
        let resumed = Double(now - start) + startDelay
        let expected = (resumed - (anchor ?? 0)) * rate / 1e9
        let missing = max(0, Int64(expected.rounded()) - frames)
        frames += missing
        lastRead = now
        return missing
    }
}
