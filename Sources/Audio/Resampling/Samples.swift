/// Converts samples. Full scale is 1.0 in floating point and 32,768 in 16 bits.
enum Samples {
    /// The maximum magnitude of samples before mixing and resampling. Only the output is clipped at 1.
    static let limit: Float = 8

    /// Replaces NaN and infinity with silence and clamps other samples. Returns how many samples were not finite.
    static func sanitize(_ samples: UnsafeMutableBufferPointer<Float>) -> Int {
        var invalidSamples = 0
        for index in samples.indices {
            let sample = samples[index]
            if sample.isFinite {
                samples[index] = min(max(sample, -limit), limit)
            } else {
                samples[index] = 0
                invalidSamples += 1
            }
        }
        return invalidSamples
    }

    /// Averages the channels of as many interleaved frames as fit in `mono`.
    static func mixDown(
        _ interleaved: UnsafeBufferPointer<Float>, channels: Int, into mono: UnsafeMutableBufferPointer<Float>
    ) {
        let frames = min(interleaved.count / channels, mono.count)
        let share = 1 / Float(channels)
        for frame in 0..<frames {
            var sum: Float = 0
            for channel in 0..<channels { sum += interleaved[frame * channels + channel] }
            mono[frame] = sum * share
        }
    }

    /// Rounds to a 16-bit sample, clipped at full scale. NaN becomes silence.
    static func quantize(_ sample: Float) -> Int16 {
        let scaled = sample * 32_768
        if scaled >= 32_767 { return 32_767 }
        if scaled <= -32_768 { return -32_768 }
        return scaled.isNaN ? 0 : Int16(scaled.rounded(.toNearestOrEven))
    }

    /// Converts a 16-bit sample exactly.
    static func float(_ sample: Int16) -> Float { Float(sample) / 32_768 }
}
