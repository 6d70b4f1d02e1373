import Core

/// Checks whether each of a microphone's channels works and whether two channels differ. Does not allocate.
struct ChannelsHealth: Sendable {
    /// The number of frames with equal, non-zero samples after which identical channels are a fault.
    static let identicalSamples = 10 * SamplePosition.rate

    private let channels: Int
    private let hasTooFewChannels: Bool
    private var hasReportedTooFewChannels = false
    private var healthByChannel: [MicrophoneHealth]
    /// The number of channels that have each fault.
    private var faultCounts: [MicrophoneHealth.Fault: Int] = [:]
    private var identicalCount = 0
    private var isIdentical = false
    /// Samples of one channel.
    private var buffer: [Int16]

    init(channels: Int, requested: Int) {
        self.channels = channels
        hasTooFewChannels = channels < requested
        healthByChannel = [MicrophoneHealth](repeating: MicrophoneHealth(), count: channels)
        buffer = [Int16](repeating: 0, count: channels == 1 ? 0 : SamplePosition.rate / 10)
        faultCounts.reserveCapacity(MicrophoneHealth.Fault.allCases.count)
    }

    /// Checks interleaved samples. Calls `report` when a fault begins or ends, with the fault, whether it began, and
    /// the affected channel.
    mutating func append(
        _ frames: UnsafeBufferPointer<Int16>, report: (MicrophoneHealth.Fault, Bool, Int?) -> Void
    ) {
        if hasTooFewChannels, !hasReportedTooFewChannels {
            hasReportedTooFewChannels = true
            report(.channels, true, nil)
        }
        guard channels > 1 else { return healthByChannel[0].append(frames) { report($0, $1, nil) } }
        compare(frames, report)
        for channel in 0..<channels {
            var index = channel
            while index < frames.count {
                var count = 0
                while count < buffer.count, index < frames.count {
                    buffer[count] = frames[index]
                    count += 1
                    index += channels
                }
                buffer.withUnsafeBufferPointer { samples in
                    healthByChannel[channel].append(UnsafeBufferPointer(rebasing: samples[..<count])) { fault, began in
                        let oldCount = faultCounts[fault] ?? 0
                        let newCount = oldCount + (began ? 1 : -1)
                        faultCounts[fault] = newCount
                        // Both channels share a fault, which begins with the first channel and ends with the last.
                        if began, oldCount == 0 { report(fault, true, channel) }
                        if !began, newCount == 0 { report(fault, false, nil) }
                    }
                }
            }
        }
    }

    private mutating func compare(
        _ frames: UnsafeBufferPointer<Int16>, _ report: (MicrophoneHealth.Fault, Bool, Int?) -> Void
    ) {
        for frame in 0..<(frames.count / channels) {
            let sample = frames[frame * channels]
            if sample != frames[frame * channels + 1] { identicalCount = 0 } else if sample != 0 { identicalCount += 1 }
            if identicalCount == 0, isIdentical {
                isIdentical = false
                report(.channels, false, nil)
            } else if identicalCount >= Self.identicalSamples, !isIdentical {
                isIdentical = true
                report(.channels, true, nil)
            }
        }
    }
}
