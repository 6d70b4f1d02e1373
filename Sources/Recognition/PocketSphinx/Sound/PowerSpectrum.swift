import Core
import Glibc

/// Computes the power spectra of overlapping Hann windows.
struct PowerSpectrum {
    private let size: Int
    private let window: [Float]
    private let transform: FourierTransform

    /// - Parameter size: the number of samples in a window, a power of two.
    init(size: Int) {
        self.size = size
        let step = 2 * Double.pi / Double(size)
        window = (0..<size).map { Float(0.5 - 0.5 * cos(step * Double($0))) }
        transform = FourierTransform(size)
    }

    /// Calls `body` for each window with the energies from 0 Hz to half the sample rate. Windows start `hop` samples
    /// apart.
    func forEachWindow(of samples: [Int16], hop: Int, _ body: ([Float]) -> Void) {
        var real = [Float](repeating: 0, count: size)
        var imaginary = real
        for start in stride(from: 0, through: samples.count - size, by: hop) {
            for index in 0..<size { real[index] = Float(samples[start + index]) }
            let mean = real.reduce(0, +) / Float(size)
            for index in 0..<size {
                real[index] = (real[index] - mean) * window[index]
                imaginary[index] = 0
            }
            transform(&real, &imaginary)
            body(
                (0...size / 2).map { index -> Float in
                    real[index] * real[index] + imaginary[index] * imaginary[index]
                })
        }
    }
}
