/// Tells how much sound is missing after an overrun, from the monotonic clock.
///
/// It keeps the smallest distance between the clock and the frames that were delivered: the reads that came most
/// promptly. A sound card may be 500 ppm faster or slower than the clock. Times are monotonic nanoseconds.
struct CaptureClock: Sendable {
    /// How far a sound card's rate may be from the clock's.
    static let drift = 500e-6

    /// Frames delivered or known as lost since the start.
    private(set) var frames: Int64 = 0

    private let rate: Double
    private let start: Int64
    private var lastRead: Int64
    /// Clock minus frames, in nanoseconds, as of the most prompt read.
    private var anchor: Double?
    /// How long the device takes from its start to its first frame, in nanoseconds.
    private var startDelay = 0.0

    /// - Parameters:
    ///   - rate: the device's nominal rate in Hz.
    ///   - start: when it was started.
    init(rate: Int, start: Int64) {
        self.rate = Double(rate)
        self.start = start
        lastRead = start
    }

    /// Says that a read gave frames.
    mutating func delivered(_ count: Int, at now: Int64) {
        frames += Int64(count)
        let offset = Double(now - start) - Double(frames) / rate * 1e9
        let slack = Self.drift * Double(max(0, now - lastRead))
        let isFirst = anchor == nil
        anchor = min(offset, (anchor ?? offset) + slack)
        // Later the card's drift would be taken for a delay.
        if Double(frames) <= 2 * rate { startDelay = max(0, isFirst ? offset : min(startDelay, offset)) }
        lastRead = now
    }

    /// Says that the device was started anew after an overrun; returns how many frames are missing before its next one.
    mutating func restarted(at now: Int64) -> Int64 {
        let resumed = Double(now - start) + startDelay
        let expected = (resumed - (anchor ?? 0)) * rate / 1e9
        let missing = max(0, Int64(expected.rounded()) - frames)
        frames += missing
        lastRead = now
        return missing
    }
}
