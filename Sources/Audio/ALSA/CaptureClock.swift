/// Measures how much audio is missing after an overrun, using the monotonic clock.
///
/// Tracks the minimum difference between the elapsed time and the duration of the delivered frames. Reads with the least
/// delay determine this minimum. All times are in nanoseconds on the monotonic clock.
struct CaptureClock: Sendable {
    /// The maximum relative deviation of a sound card's rate.
    static let maximumDrift = 500e-6

    /// The number of frames delivered or lost since the start.
    private(set) var frames: Int64 = 0

    private let rate: Double
    private let start: Int64
    private var lastRead: Int64
    /// The minimum difference, corrected for drift; nil before the first read.
    private var anchor: Double?
    /// The time from the device's start to its first frame, in nanoseconds.
    private var startDelay = 0.0

    /// - Parameter start: The time at which the device was started.
    init(rate: Int, start: Int64) {
        self.rate = Double(rate)
        self.start = start
        lastRead = start
    }

    mutating func addFrames(_ count: Int, at now: Int64) {
        frames += Int64(count)
        let offset = Double(now - start) - Double(frames) / rate * 1e9
        let slack = Self.maximumDrift * Double(max(0, now - lastRead))
        let isFirst = anchor == nil
        anchor = min(offset, (anchor ?? offset) + slack)
        // Measured only in the first two seconds. Later, the card's drift would count as delay.
        if Double(frames) <= 2 * rate { startDelay = max(0, isFirst ? offset : min(startDelay, offset)) }
        lastRead = now
    }

    /// Handles a restart after an overrun. Returns the number of missing frames.
    mutating func handleRestart(at now: Int64) -> Int64 {
        let resumed = Double(now - start) + startDelay
        let expected = (resumed - (anchor ?? 0)) * rate / 1e9
        let missing = max(0, Int64(expected.rounded()) - frames)
        frames += missing
        lastRead = now
        return missing
    }
}
