import Glibc

/// Computes the level of each 20 ms frame. Does not allocate.
package struct FrameLevels: Sendable {
    /// The level of a frame with no signal, in dBFS.
    static let silence = -100.0

    private var sum = 0
    private var squares = 0
    private var count = 0

    package init() {}

    /// Appends samples and calls `onFrame` with the RMS level of each completed frame, in dBFS and without DC offset.
    package mutating func append(_ samples: UnsafeBufferPointer<Int16>, onFrame: (Double) -> Void) {
        var index = 0
        while index < samples.count {
            let end = min(samples.count, index + SpeechSettings.frameSamples - count)
            for position in index..<end {
                let value = Int(samples[position])
                sum &+= value
                squares &+= value &* value
            }
            count += end - index
            index = end
            if count == SpeechSettings.frameSamples {
                onFrame(level)
                restart()
            }
        }
    }

    /// Discards an incomplete frame.
    package mutating func restart() {
        sum = 0
        squares = 0
        count = 0
    }

    private var level: Double {
        let mean = Double(sum) / Double(count)
        let power = Double(squares) / Double(count) - mean * mean
        return power < 1e-3 ? Self.silence : max(Self.silence, 10 * log10(power / (32_768 * 32_768)))
    }
}
