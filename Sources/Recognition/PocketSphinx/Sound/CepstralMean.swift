/// The mean of an utterance's first frames; it grows in place.
struct CepstralMean {
    /// So many frames were taken.
    private(set) var frames = 0
    /// A value for each place of a frame; empty before the first frame.
    private(set) var values: [Float] = []
    private var sums: [Double] = []
    private var heard = 0.0

    /// Takes further frames of a front end, until it has so many, or all that there are.
    mutating func grow(to count: Int, of frontEnd: FrontEnd) {
        let (width, count) = (frontEnd.width, min(count, frontEnd.frames))
        guard count > frames else { return }
        if values.isEmpty {
            sums = [Double](repeating: 0, count: width)
            values = [Float](repeating: 0, count: width)
        }
        // Frames without energy say nothing of the channel; the library leaves them out as well.
        for first in stride(from: frames * width, to: count * width, by: width) where frontEnd.cepstra[first] >= 0 {
            heard += 1
            for index in 0..<width { sums[index] += Double(frontEnd.cepstra[first + index]) }
        }
        frames = count
        guard heard > 0 else { return }
        for index in 0..<width { values[index] = Float(sums[index] / heard) }
    }
}
