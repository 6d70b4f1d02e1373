/// Samples as numbers: full scale is 1.0 in floating point and 32,768 in 16 bits.
enum Samples {
    /// The largest magnitude that is let through to mixing and resampling; what comes out is clipped at 1.
    static let limit: Float = 8

    /// Makes silence of what is not a number or infinite, and limits the rest; returns how many were not numbers.
    static func sanitize(_ samples: UnsafeMutableBufferPointer<Float>) -> Int {
        var invalid = 0
        for index in samples.indices {
            let sample = samples[index]
            if sample.isFinite {
                samples[index] = min(max(sample, -limit), limit)
            } else {
                samples[index] = 0
                invalid += 1
            }
        }
        return invalid
    }

    /// Averages the channels of interleaved frames into one; takes as many frames as `mono` has room for.
    static func mixDown(
        _ interleaved: UnsafeBufferPointer<Float>, channels: Int, into mono: UnsafeMutableBufferPointer<Float>
    ) {
        let frames = min(interleaved.count / channels, mono.count)
        if channels == 1 {
            for frame in 0..<frames { mono[frame] = interleaved[frame] }
            return
        }
        let share = 1 / Float(channels)
        for frame in 0..<frames {
            var sum: Float = 0
            for channel in 0..<channels { sum += interleaved[frame * channels + channel] }
            mono[frame] = sum * share
        }
    }

    /// The nearest 16-bit sample, clipped at full scale; silence for what is not a number.
    static func quantize(_ sample: Float) -> Int16 {
        let scaled = sample * 32_768
        if scaled >= 32_767 { return 32_767 }
        if scaled <= -32_768 { return -32_768 }
        return scaled.isNaN ? 0 : Int16(scaled.rounded(.toNearestOrEven))
    }

    /// A 16-bit sample in floating point, exactly.
    static func float(_ sample: Int16) -> Float { Float(sample) / 32_768 }
}
