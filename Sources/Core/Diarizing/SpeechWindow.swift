/// A window of speech from which the network computes a voice vector: 1.5 s, approximately every 0.5 s in a region.
struct SpeechWindow: Sendable {
    /// The number of frames in a full window.
    static let frames = 148
    /// The minimum number of frames that the network needs. Shorter windows are repeated.
    static let minimumInputFrames = 47
    /// The minimum number of frames in a region that has windows.
    static let minimumFrames = 10
    /// The range of frames, counted from the start of the region.
    let frames: Range<Int>

    /// Returns evenly spaced windows for a region; none if it is too short. A region that is longer than a window by
    /// less than half a hop has one window.
    ///
    /// - Parameter hop: The approximate number of frames between windows.
    static func windows(frameCount count: Int, hop: Int) -> [SpeechWindow] {
        guard count >= minimumFrames else { return [] }
        let hops = (2 * max(0, count - frames) + hop) / (2 * hop)
        guard hops > 0 else { return [SpeechWindow(frames: 0..<count)] }
        return (0...hops).map { number in
            let start = number * (count - frames) / hops
            return SpeechWindow(frames: start..<start + frames)
        }
    }

    /// Returns the network's input: the window's features without their mean, `MelFeatures.bins` values per frame.
    ///
    /// - Parameters:
    ///   - features: The features of the piece that contains the region.
    ///   - first: The index of the region's first frame in the piece.
    func features(of features: [Float], from first: Int = 0) -> [Float] {
        let bins = MelFeatures.bins
        var centered = Array(features[(first + frames.lowerBound) * bins..<(first + frames.upperBound) * bins])
        var means = [Float](repeating: 0, count: bins)
        for index in centered.indices { means[index % bins] += centered[index] }
        for index in centered.indices { centered[index] -= means[index % bins] / Float(frames.count) }
        var repeated = centered
        while repeated.count < Self.minimumInputFrames * bins { repeated += centered }
        return repeated
    }
}
