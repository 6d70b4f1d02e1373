import Glibc

/// Computes the log mel energies on which the voice network was trained, in the same way as Kaldi: 25 ms frames every
/// 10 ms, no dither, mean removed, pre-emphasis 0.97, Povey window, 512-point FFT, 80 triangular filters from 20 to
/// 8,000 Hz evenly spaced in mel, natural logarithm.
struct MelFeatures: Sendable {
    /// The number of values per frame.
    static let bins = 80
    /// The number of samples between frame starts.
    static let hop = 160
    /// The number of samples in a frame.
    static let length = 400

    private static let points = 512
    private static let emphasis: Float = 0.97
    private static let floor: Float = 1.192_092_9e-7

    private let window: [Float]
    private let transform: FourierTransform
    /// The first FFT point of each triangular filter, and its weights.
    private let triangles: [(first: Int, weights: [Float])]

    init() {
        window = (0..<Self.length).map { index in
            let angle = 2 * Double.pi * Double(index) / Double(Self.length - 1)
            return Float(pow(0.5 - 0.5 * cos(angle), 0.85))
        }
        transform = FourierTransform(Self.points)
        triangles = Self.makeTriangles()
    }

    private static func makeTriangles() -> [(first: Int, weights: [Float])] {
        let mel = { (hertz: Double) in 1127 * log(1 + hertz / 700) }
        let (low, high) = (mel(20), mel(8_000))
        let step = (high - low) / Double(bins + 1)
        return (0..<bins).map { bin in
            let (left, center, right) = (
                low + Double(bin) * step, low + Double(bin + 1) * step, low + Double(bin + 2) * step
            )
            var first = -1
            var weights: [Float] = []
            for point in 0..<points / 2 {
                let frequency = mel(Double(point) * Double(SamplePosition.rate) / Double(points))
                guard frequency > left, frequency < right else { continue }
                if first < 0 { first = point }
                let (up, down) = ((frequency - left) / (center - left), (right - frequency) / (right - center))
                weights.append(Float(frequency <= center ? up : down))
            }
            return (max(0, first), weights)
        }
    }

    /// Returns the number of complete frames in `samples` samples.
    static func frames(in samples: Int) -> Int { samples < length ? 0 : (samples - length) / hop + 1 }

    /// Returns `bins` values for each frame, frame by frame.
    func callAsFunction(_ samples: [Int16]) -> [Float] {
        let count = Self.frames(in: samples.count)
        var features: [Float] = []
        features.reserveCapacity(count * Self.bins)
        var real = [Float](repeating: 0, count: Self.points)
        var imaginary = real
        for frame in 0..<count {
            let start = frame * Self.hop
            var mean: Float = 0
            for index in 0..<Self.length { mean += Float(samples[start + index]) }
            mean /= Float(Self.length)
            var last = (Float(samples[start]) - mean) / 32_768
            for index in 0..<Self.length {
                let value = (Float(samples[start + index]) - mean) / 32_768
                real[index] = (value - Self.emphasis * last) * window[index]
                last = value
            }
            for index in Self.length..<Self.points { real[index] = 0 }
            for index in 0..<Self.points { imaginary[index] = 0 }
            transform(&real, &imaginary)
            for triangle in triangles {
                var energy: Float = 0
                for (index, weight) in triangle.weights.enumerated() {
                    let point = triangle.first + index
                    energy += weight * (real[point] * real[point] + imaginary[point] * imaginary[point])
                }
                features.append(Float(log(Double(max(energy, Self.floor)))))
            }
        }
        return features
    }
}
