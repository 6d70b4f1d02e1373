import Glibc

/// The energies of the frequencies in a window of sound.
struct FourierTransform {
    private let size: Int
    private let window: [Float]
    private let cosines: [Float]
    private let sines: [Float]
    /// Where each sample goes before the first step.
    private let order: [Int]

    /// - Parameter size: samples of a window: a power of two.
    init(size: Int) {
        self.size = size
        let turn = 2 * Double.pi / Double(size)
        window = (0..<size).map { Float(0.5 - 0.5 * cos(turn * Double($0))) }
        cosines = (0..<size / 2).map { Float(cos(turn * Double($0))) }
        sines = (0..<size / 2).map { Float(-sin(turn * Double($0))) }
        let bits = size.trailingZeroBitCount
        order = (0..<size).map { index in
            (0..<bits).reduce(0) { $0 << 1 | (index >> $1) & 1 }
        }
    }

    /// Gives the energies of one window after the other, each `hop` samples behind the one before.
    func forEachWindow(of samples: [Int16], hop: Int, _ take: ([Float]) -> Void) {
        var frame = [Float](repeating: 0, count: size)
        for start in stride(from: 0, through: samples.count - size, by: hop) {
            for index in 0..<size { frame[index] = Float(samples[start + index]) }
            take(energies(of: &frame))
        }
    }

    /// Of each frequency from 0 up to half the rate; their mean is taken from the samples first, which change.
    func energies(of samples: inout [Float]) -> [Float] {
        let mean = samples.reduce(0, +) / Float(size)
        for index in 0..<size { samples[index] = (samples[index] - mean) * window[index] }
        var real = order.map { samples[$0] }
        var imaginary = [Float](repeating: 0, count: size)
        var half = 1
        while half < size {
            let step = size / (2 * half)
            for start in stride(from: 0, to: size, by: 2 * half) {
                for index in 0..<half {
                    let (upper, lower) = (start + index, start + index + half)
                    let (cosine, sine) = (cosines[index * step], sines[index * step])
                    let turnedReal = real[lower] * cosine - imaginary[lower] * sine
                    let turnedImaginary = real[lower] * sine + imaginary[lower] * cosine
                    (real[lower], imaginary[lower]) = (real[upper] - turnedReal, imaginary[upper] - turnedImaginary)
                    real[upper] += turnedReal
                    imaginary[upper] += turnedImaginary
                }
            }
            half *= 2
        }
        return (0...size / 2).map { real[$0] * real[$0] + imaginary[$0] * imaginary[$0] }
    }
}
