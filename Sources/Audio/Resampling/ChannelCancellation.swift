/// Channels that are one another's negative, as of a balanced plug in a stereo input: their mean is silence.
///
/// Measures over the last second or so, the block at hand included, and puts the loudest channel in the mean's place while that
/// lasts. Pure; allocates nothing per block.
struct ChannelCancellation {
    /// The mean of two channels of which one is silent has a quarter of the other's power; here it has less than a hundredth.
    private static let least = 25.0
    /// A channel with less power than this, about -70 dBFS, is noise that nothing has to be saved of.
    private static let quiet = 1e-7

    /// Whether it has happened, and whether it lasts.
    private(set) var hasCancelled = false
    private(set) var isCancelling = false

    private let channels: Int
    private let window: Double
    /// Weighted sums of squares.
    private var powers: [Double]
    private var mean = 0.0
    private var weight = 0.0
    /// The channel that stands in the mean's place; another does once it is clearly louder.
    private var chosen = 0

    init(channels: Int, rate: Int) {
        self.channels = channels
        window = Double(rate)
        powers = [Double](repeating: 0, count: channels)
    }

    /// Replaces a mean in which the channels have cancelled each other.
    ///
    /// - Parameter frames: the interleaved channels of which it is the mean.
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
        // What is quiet tells nothing new.
        if powers[loudest] > weight * Self.quiet { isCancelling = mean * share < powers[loudest] }
        guard isCancelling else { return }
        hasCancelled = true
        for frame in 0..<count { mono[frame] = frames[frame * channels + chosen] }
    }
}
