/// A window of speech from which a voice vector is computed: 1.5 s, about every half second of a region.
struct SpeechWindow: Sendable {
    /// Frames in a window of a longer region.
    static let frames = 148
    /// The network's minimum; shorter regions are repeated.
    static let leastFrames = 47
    /// Shorter regions have no window.
    static let least = 10
    /// Its frames in the region.
    let frames: Range<Int>

    /// Returns the windows of a region, evenly spaced; none if it is too short. A region longer than a window by less
    /// than half a hop has one window.
    ///
    /// - Parameter hop: Frames between windows, about.
    static func windows(ofFrames count: Int, each hop: Int) -> [SpeechWindow] {
        guard count >= least else { return [] }
        let hops = (2 * max(0, count - frames) + hop) / (2 * hop)
        guard hops > 0 else { return [SpeechWindow(frames: 0..<count)] }
        return (0...hops).map { number in
            let start = number * (count - frames) / hops
            return SpeechWindow(frames: start..<start + frames)
        }
    }

    /// Returns the window's features without their mean, the network's input: `bins` numbers per frame.
    ///
    /// - Parameters:
    ///   - heard: The features of the piece that contains the region.
    ///   - first: The region's first frame in it.
    func features(of heard: [Float], from first: Int = 0) -> [Float] {
        let bins = MelFeatures.bins
        var own = Array(heard[(first + frames.lowerBound) * bins..<(first + frames.upperBound) * bins])
        var means = [Float](repeating: 0, count: bins)
        for index in own.indices { means[index % bins] += own[index] }
        for index in own.indices { own[index] -= means[index % bins] / Float(frames.count) }
        var repeated = own
        while repeated.count < Self.leastFrames * bins { repeated += own }
        return repeated
    }
}
