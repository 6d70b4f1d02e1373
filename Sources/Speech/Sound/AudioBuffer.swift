import Core

/// Samples of any rate and channel count, for an analyzer or a recognition request. They are converted internally. It
/// replaces AVFAudio's `AVAudioPCMBuffer`.
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
        /// Samples per second and channel.
        public var sampleRate: Int
        /// The number of channels, which are mixed.
        public var channelCount: Int
        /// Whether samples are floating-point numbers.
        public var isFloat: Bool

        /// - Parameters:
        ///   - sampleRate: from 1 kHz to 1 MHz.
        ///   - channelCount: 1 or more.
        ///   - isFloat: `Float` or `Int16`.
        public init(sampleRate: Int, channelCount: Int = 1, isFloat: Bool = false) {
            self.sampleRate = sampleRate
            self.channelCount = channelCount
            self.isFloat = isFloat
        }

        /// 16 kHz, one channel, 16-bit: the engines' format. Such buffers are not converted.
        public static let native = Format(sampleRate: SamplePosition.rate)
    }

    /// The samples, frame after frame.
    public let samples: Samples
    /// Samples per second and channel.
    public let sampleRate: Int
    /// The number of channels.
    public let channelCount: Int

    /// - Parameters:
    ///   - int16: whole frames of interleaved 16-bit samples.
    ///   - sampleRate: from 1 kHz to 1 MHz.
    ///   - channelCount: 1 or more.
    public init(int16: [Int16], sampleRate: Int = AudioTime.timescale, channelCount: Int = 1) {
        samples = .int16(int16)
        self.sampleRate = sampleRate
        self.channelCount = channelCount
    }

    /// - Parameters:
    ///   - float32: whole frames of interleaved samples from -1 to 1.
    ///   - sampleRate: from 1 kHz to 1 MHz.
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
