/// The running mean of an utterance's first frames.
struct CepstralMean {
    private(set) var frames = 0
    /// One value per coefficient; empty before the first frame.
    private(set) var values: [Float] = []
    private var sums: [Double] = []
    private var summed = 0.0

    /// Adds the front end's frames before `count`, or all if there are fewer.
    mutating func grow(to count: Int, of frontEnd: FrontEnd) {
        let (width, count) = (frontEnd.width, min(count, frontEnd.frames))
        guard count > frames else { return }
        if values.isEmpty {
            sums = [Double](repeating: 0, count: width)
            values = [Float](repeating: 0, count: width)
        }
        // Frames without energy contain no information about the channel; the library also skips them.
        for first in stride(from: frames * width, to: count * width, by: width) where frontEnd.cepstra[first] >= 0 {
            summed += 1
            for index in 0..<width { sums[index] += Double(frontEnd.cepstra[first + index]) }
        }
        frames = count
        guard summed > 0 else { return }
        for index in 0..<width { values[index] = Float(sums[index] / summed) }
    }
}
