/// A room's noise floor: the 10th percentile of the frame levels in the last 10 s.
package struct NoiseFloor: Sendable {
    private static let frames = 500
    private static let minimumLevel = -100
    private static let bins = 202
    /// The level in dBFS and the number of assumed frames at the start. The first two seconds outweigh them.
    private static let initial = (level: -60.0, frames: 10)

    private var histogram = [Int](repeating: 0, count: Self.bins)
    private var recent = [UInt8](repeating: 0, count: Self.frames)
    private var count = 0
    private var oldest = 0

    /// Creates a noise floor that starts at the level of a quiet room.
    package init() {
        for _ in 0..<Self.initial.frames { append(Self.initial.level) }
    }

    /// The noise floor in dBFS, in steps of half a decibel.
    package private(set) var decibels = Self.initial.level

    /// Adds the level of the next frame in dBFS.
    package mutating func append(_ level: Double) {
        let minimum = Double(Self.minimumLevel)
        let bin = Int((2 * (max(minimum, min(0, level)) - minimum)).rounded())
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
            if below * 10 >= count { return Double(Self.minimumLevel) + Double(bin) / 2 }
        }
        return 0
    }
}
