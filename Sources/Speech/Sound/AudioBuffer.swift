import Core

/// Audio samples for an analyzer or a recognition request. The rate and the number of channels are converted as needed.
/// This type replaces AVFAudio's `AVAudioPCMBuffer`.
public struct AudioBuffer: Hashable, Sendable {
    /// Interleaved samples.
    public enum Samples: Hashable, Sendable {
        /// Full scale is 32,768.
        case int16([Int16])
        /// Full scale is 1; louder samples are clipped.
        case float32([Float])
    }

    /// The rate, channels and sample type of a buffer.
    public struct Format: Hashable, Sendable {
        /// The number of samples per second in each channel.
        public var sampleRate: Int
        /// The number of channels, which are mixed into one.
        public var channelCount: Int
        /// Whether samples are floating-point numbers.
        public var isFloat: Bool

        /// Creates a format.
        ///
        /// - Parameters:
        ///   - sampleRate: From 1 kHz to 1 MHz.
        ///   - channelCount: 1 or more.
        ///   - isFloat: Whether samples are `Float` instead of `Int16`.
        public init(sampleRate: Int, channelCount: Int = 1, isFloat: Bool = false) {
            self.sampleRate = sampleRate
            self.channelCount = channelCount
            self.isFloat = isFloat
        }

        /// The engines' format, which is not converted: 16 kHz, one channel, 16-bit.
        public static let native = Format(sampleRate: SamplePosition.rate)
    }

    /// The interleaved samples.
    public let samples: Samples
    /// The number of samples per second in each channel.
    public let sampleRate: Int
    /// The number of channels.
    public let channelCount: Int

    /// Creates a buffer with 16-bit samples.
    ///
    /// - Parameters:
    ///   - int16: Whole frames of interleaved samples.
    ///   - sampleRate: From 1 kHz to 1 MHz.
    ///   - channelCount: 1 or more.
    public init(int16: [Int16], sampleRate: Int = AudioTime.timescale, channelCount: Int = 1) {
        samples = .int16(int16)
        self.sampleRate = sampleRate
        self.channelCount = channelCount
    }

    /// Creates a buffer with floating-point samples.
    ///
    /// - Parameters:
    ///   - float32: Whole frames of interleaved samples from -1 to 1.
    ///   - sampleRate: From 1 kHz to 1 MHz.
    ///   - channelCount: 1 or more.
    public init(float32: [Float], sampleRate: Int = AudioTime.timescale, channelCount: Int = 1) {
        samples = .float32(float32)
        self.sampleRate = sampleRate
        self.channelCount = channelCount
    }

    /// The rate, channels and sample type.
    public var format: Format {
        let isFloat = if case .float32 = samples { true } else { false }
        return Format(sampleRate: sampleRate, channelCount: channelCount, isFloat: isFloat)
    }

    /// The number of samples per channel.
    public var frameLength: Int {
        let count =
            switch samples {
            case .int16(let samples): samples.count
            case .float32(let samples): samples.count
            }
        return count / max(1, channelCount)
    }

    /// The length in seconds.
    public var duration: Double { Double(frameLength) / Double(max(1, sampleRate)) }
}
