/// The noise floor of a room: the 10th percentile of the levels of the last 10 s.
package struct NoiseFloor: Sendable {
    private static let frames = 500
    private static let lowest = -100
    private static let bins = 202
    /// The initial frames, of a quiet room; the first two seconds outweigh them.
    private static let assumed = (level: -60.0, frames: 10)

    private var histogram = [Int](repeating: 0, count: Self.bins)
    private var recent = [UInt8](repeating: 0, count: Self.frames)
    private var count = 0
    private var oldest = 0

    /// Starts with the floor of a quiet room.
    package init() {
        for _ in 0..<Self.assumed.frames { take(Self.assumed.level) }
    }

    /// The floor in dBFS, in steps of half a decibel.
    package private(set) var decibels = Self.assumed.level

    /// Adds the level of the next frame in dBFS.
    package mutating func take(_ level: Double) {
        let lowest = Double(Self.lowest)
        let bin = Int((2 * (max(lowest, min(0, level)) - lowest)).rounded())
        if count == Self.frames {
            histogram[Int(recent[oldest])] -= 1
            recent[oldest] = UInt8(bin)
            oldest = (oldest + 1) % Self.frames
        } else {
            recent[count] = UInt8(bin)
            count += 1
        }
        histogram[bin] += 1
        decibels = tenthPercentile()
    }

    private func tenthPercentile() -> Double {
        var below = 0
        for (bin, frames) in histogram.enumerated() {
            below += frames
            if below * 10 >= count { return Double(Self.lowest) + Double(bin) / 2 }
        }
        return 0
    }
}
