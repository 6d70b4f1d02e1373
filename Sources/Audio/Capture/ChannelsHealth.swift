import Core

/// Checks whether each channel of a microphone works and whether two channels differ. Allocates nothing per block.
struct ChannelsHealth: Sendable {
    /// How many non-silent samples must be identical in both channels before it is a fault.
    static let sameSamples = 10 * SamplePosition.rate

    private let channels: Int
    private let isTooFew: Bool
    private var hasReportedTooFew = false
    private var each: [MicrophoneHealth]
    /// The number of channels that have each fault.
    private var present: [MicrophoneHealth.Trouble: Int] = [:]
    private var same = 0
    private var isSame = false
    private var part: [Int16]

    /// - Parameters:
    ///   - channels: the recording's channel count.
    ///   - wanted: the requested channel count.
    init(channels: Int, wanted: Int) {
        self.channels = channels
        isTooFew = channels < wanted
        each = [MicrophoneHealth](repeating: MicrophoneHealth(), count: channels)
        part = [Int16](repeating: 0, count: channels == 1 ? 0 : SamplePosition.rate / 10)
        present.reserveCapacity(MicrophoneHealth.Trouble.allCases.count)
    }

    /// Checks interleaved samples. Calls `report` with a fault, whether it began or ended, and the affected channel.
    mutating func append(
        _ frames: UnsafeBufferPointer<Int16>, report: (MicrophoneHealth.Trouble, Bool, Int?) -> Void
    ) {
        if isTooFew, !hasReportedTooFew {
            hasReportedTooFew = true
            report(.channels, true, nil)
        }
        guard channels > 1 else { return each[0].append(frames) { report($0, $1, nil) } }
        compare(frames, report)
        for channel in 0..<channels {
            var place = channel
            while place < frames.count {
                var count = 0
                while count < part.count, place < frames.count {
                    part[count] = frames[place]
                    count += 1
                    place += channels
                }
                part.withUnsafeBufferPointer { samples in
                    each[channel].append(UnsafeBufferPointer(rebasing: samples[..<count])) { trouble, isPresent in
                        let before = present[trouble] ?? 0
                        let now = before + (isPresent ? 1 : -1)
                        present[trouble] = now
                        // Both channels share one fault: it begins with the first channel and ends with the last.
                        if isPresent, before == 0 { report(trouble, true, channel) }
                        if !isPresent, now == 0 { report(trouble, false, nil) }
                    }
                }
            }
        }
    }

    private mutating func compare(
        _ frames: UnsafeBufferPointer<Int16>, _ report: (MicrophoneHealth.Trouble, Bool, Int?) -> Void
    ) {
        for frame in 0..<(frames.count / channels) {
            let sample = frames[frame * channels]
            if sample != frames[frame * channels + 1] { same = 0 } else if sample != 0 { same += 1 }
            if same == 0, isSame {
                isSame = false
                report(.channels, false, nil)
            } else if same >= Self.sameSamples, !isSame {
                isSame = true
                report(.channels, true, nil)
            }
        }
    }
}
