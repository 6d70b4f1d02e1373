/// Detects channels whose mean is silent because they are inverted copies of each other, as with a balanced plug in a
/// stereo input.
///
/// Measures over approximately a second, including the current block. If the channels cancel each other out, the loudest
/// channel replaces the mean. Does not allocate.
struct ChannelCancellation {
    /// Channels cancel each other out if the mean has less than 1/25 of the power that it would have if all but the
    /// loudest channel were silent. For two channels, that is 1/100 of the louder one's power instead of 1/4.
    private static let minimumRatio = 25.0
    /// The minimum power, approximately -70 dBFS, of a channel that is not noise.
    private static let minimumPower = 1e-7

    /// Whether the channels have ever cancelled each other out, and whether they currently do.
    private(set) var hasCancelled = false
    private(set) var isCancelling = false

    private let channels: Int
    private let window: Double
    /// Each channel's weighted sum of squares.
    private var powers: [Double]
    private var meanPower = 0.0
    private var weight = 0.0
    /// The channel that replaces the mean. Changes once another channel is clearly louder.
    private var chosenChannel = 0

    init(channels: Int, rate: Int) {
        self.channels = channels
        window = Double(rate)
        powers = [Double](repeating: 0, count: channels)
    }

    /// Replaces the mean in `mono` if the channels cancel each other out.
    ///
    /// - Parameter frames: The interleaved channels.
    mutating func repair(_ mono: UnsafeMutableBufferPointer<Float>, of frames: UnsafeBufferPointer<Float>) {
        let count = mono.count
        guard channels > 1, count > 0 else { return }
        let decay = max(0, 1 - Double(count) / window)
        weight = weight * decay + Double(count)
        meanPower *= decay
        for sample in mono { meanPower += Double(sample * sample) }
        var loudest = 0
        for channel in 0..<channels {
            var power = powers[channel] * decay
            for frame in 0..<count {
                let sample = frames[frame * channels + channel]
                power += Double(sample * sample)
            }
            powers[channel] = power
            if power > powers[loudest] { loudest = channel }
        }
        let ratio = Double(channels * channels) * Self.minimumRatio
        if !isCancelling || powers[loudest] > 2 * powers[chosenChannel] { chosenChannel = loudest }
        // Quiet audio does not show whether channels cancel each other out.
        if powers[loudest] > weight * Self.minimumPower { isCancelling = meanPower * ratio < powers[loudest] }
        guard isCancelling else { return }
        hasCancelled = true
        for frame in 0..<count { mono[frame] = frames[frame * channels + chosenChannel] }
    }
}
