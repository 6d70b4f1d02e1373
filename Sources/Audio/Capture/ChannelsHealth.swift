import Core

/// Whether each of a microphone's channels works, and whether two of them differ. Pure, and allocates nothing per block.
struct ChannelsHealth: Sendable {
    /// For so long both have to be the same, in samples; what is silent too is not counted.
    static let sameSamples = 10 * SamplePosition.rate

    private let channels: Int
    private let isTooFew: Bool
    private var hasToldTooFew = false
    private var each: [MicrophoneHealth]
    /// In how many channels each trouble is present.
    private var present: [MicrophoneHealth.Trouble: Int] = [:]
    private var same = 0
    private var isSame = false
    private var part: [Int16]

    /// - Parameters:
    ///   - channels: of the recording.
    ///   - wanted: how many were asked for.
    init(channels: Int, wanted: Int) {
        self.channels = channels
        isTooFew = channels < wanted
        each = [MicrophoneHealth](repeating: MicrophoneHealth(), count: channels)
        part = [Int16](repeating: 0, count: channels == 1 ? 0 : SamplePosition.rate / 10)
        present.reserveCapacity(MicrophoneHealth.Trouble.allCases.count)
    }

    /// Takes samples, interleaved; calls `report` with what has come (true) or gone (false), and in which of two channels it came.
    mutating func hear(
        _ frames: UnsafeBufferPointer<Int16>, report: (MicrophoneHealth.Trouble, Bool, Int?) -> Void
    ) {
        if isTooFew, !hasToldTooFew {
            hasToldTooFew = true
            report(.channels, true, nil)
        }
        guard channels > 1 else { return each[0].hear(frames) { report($0, $1, nil) } }
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
                    each[channel].hear(UnsafeBufferPointer(rebasing: samples[..<count])) { trouble, isPresent in
                        let before = present[trouble] ?? 0
                        let now = before + (isPresent ? 1 : -1)
                        present[trouble] = now
                        // One fault for both: it came with the first, and goes with the last.
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
