/// A stretch of speech whose voice is looked at: 1.5 s, one about each half a second, within a region of speech.
struct SpeechWindow: Sendable {
    /// Frames that a window holds in a region that is longer.
    static let frames = 148
    /// The network wants more; a shorter region is looked at repeatedly.
    static let leastFrames = 47
    /// What is shorter has no voice to be told.
    static let least = 10

    /// Where it lies in its region, in frames.
    let frames: Range<Int>

    /// The windows of a region, evenly spread over all of it; none where it is too short. What is longer than one by less than half
    /// of a hop is one all the same, so that no sound is looked at once more for a few frames at the end.
    ///
    /// - Parameter hop: frames from one window to the next, about.
    static func windows(ofFrames count: Int, each hop: Int) -> [SpeechWindow] {
        guard count >= least else { return [] }
        let hops = (2 * max(0, count - frames) + hop) / (2 * hop)
        guard hops > 0 else { return [SpeechWindow(frames: 0..<count)] }
        return (0...hops).map { number in
            let start = number * (count - frames) / hops
            return SpeechWindow(frames: start..<start + frames)
        }
    }

    /// Its features, with their mean over the window taken away, as the network takes them: `bins` numbers a frame.
    ///
    /// - Parameters:
    ///   - heard: the features of what its region is part of.
    ///   - first: the region's first frame in it.
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
