/// Detects channels that are each other's negative, as with a balanced plug in a stereo input: their mean is silence.
///
/// It measures over about a second, the current block included, and replaces the mean with the loudest channel. Allocates
/// nothing per block.
struct ChannelCancellation {
    /// The minimum ratio: if one of two channels is silent, the mean has 1/4 of the other's power; here less than 1/100.
    private static let least = 25.0
    /// A channel below this power, about -70 dBFS, is noise.
    private static let quiet = 1e-7

    /// Whether channels have cancelled, and whether they do so now.
    private(set) var hasCancelled = false
    private(set) var isCancelling = false

    private let channels: Int
    private let window: Double
    /// Weighted sums of squares.
    private var powers: [Double]
    private var mean = 0.0
    private var weight = 0.0
    /// The channel that replaces the mean; changes once another is clearly louder.
    private var chosen = 0

    init(channels: Int, rate: Int) {
        self.channels = channels
        window = Double(rate)
        powers = [Double](repeating: 0, count: channels)
    }

    /// Replaces a mean in which channels cancel each other.
    ///
    /// - Parameter frames: the interleaved channels of the mean.
    mutating func repair(_ mono: UnsafeMutableBufferPointer<Float>, of frames: UnsafeBufferPointer<Float>) {
        let count = mono.count
        guard channels > 1, count > 0 else { return }
        let kept = max(0, 1 - Double(count) / window)
        weight = weight * kept + Double(count)
        mean *= kept
        for sample in mono { mean += Double(sample * sample) }
        var loudest = 0
        for channel in 0..<channels {
            var power = powers[channel] * kept
            for frame in 0..<count {
                let sample = frames[frame * channels + channel]
                power += Double(sample * sample)
            }
            powers[channel] = power
            if power > powers[loudest] { loudest = channel }
        }
        let share = Double(channels * channels) * Self.least
        if !isCancelling || powers[loudest] > 2 * powers[chosen] { chosen = loudest }
        // Quiet audio proves nothing.
        if powers[loudest] > weight * Self.quiet { isCancelling = mean * share < powers[loudest] }
        guard isCancelling else { return }
        hasCancelled = true
        for frame in 0..<count { mono[frame] = frames[frame * channels + chosen] }
    }
}
