/// Log mel energies as Kaldi computes them, which is what the network for voices was trained with.
///
/// Frames of 25 ms each 10 ms, without dither; the frame's mean taken away; pre-emphasis 0.97; Povey's window; the power of a Fourier
/// transform of 512 points; 80 triangles from 20 to 8,000 Hz, evenly in mel; the logarithm.
struct MelFeatures: Sendable {
    /// Numbers a frame.
    static let bins = 80
    /// Samples from one frame to the next.
    static let hop = 160
    /// Samples that a frame looks at.
    static let length = 400

    private static let points = 512
    private static let emphasis: Float = 0.97
    private static let floor: Float = 1.192_092_9e-7

    private let window: [Float]
    private let transform: FourierTransform
    /// Of each triangle: its first point, and the weights from there on.
    private let triangles: [(first: Int, weights: [Float])]

    /// Makes what is the same for all frames.
    init() {
        window = (0..<Self.length).map { index in
            let angle = 2 * Double.pi * Double(index) / Double(Self.length - 1)
            return Float(power(0.5 - 0.5 * cosine(angle), 0.85))
        }
        transform = FourierTransform(Self.points)
        triangles = Self.makeTriangles()
    }

    private static func makeTriangles() -> [(first: Int, weights: [Float])] {
        let mel = { (hertz: Double) in 1127 * naturalLogarithm(1 + hertz / 700) }
        let (low, high) = (mel(20), mel(8_000))
        let step = (high - low) / Double(bins + 1)
        return (0..<bins).map { bin in
            let (left, center, right) = (
                low + Double(bin) * step, low + Double(bin + 1) * step, low + Double(bin + 2) * step
            )
            var first = -1
            var weights: [Float] = []
            for point in 0..<points / 2 {
                let place = mel(Double(point) * Double(SamplePosition.rate) / Double(points))
                guard place > left, place < right else { continue }
                if first < 0 { first = point }
                weights.append(
                    Float(place <= center ? (place - left) / (center - left) : (right - place) / (right - center)))
            }
            return (max(0, first), weights)
        }
    }

    /// How many frames lie wholly within so many samples.
    static func frames(in samples: Int) -> Int { samples < length ? 0 : (samples - length) / hop + 1 }

    /// `bins` numbers a frame, one frame after the other.
    ///
    /// - Parameter samples: 16 kHz.
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
                features.append(Float(naturalLogarithm(Double(max(energy, Self.floor)))))
            }
        }
        return features
    }
}

/// A Fourier transform of a power of two of points, in place.
struct FourierTransform: Sendable {
    private let count: Int
    private let order: [Int]
    private let factors: [(cosine: Float, sine: Float)]

    init(_ count: Int) {
        self.count = count
        let bits = count.trailingZeroBitCount
        order = (0..<count).map { index in
            (0..<bits).reduce(0) { $0 | ((index >> $1) & 1) << (bits - 1 - $1) }
        }
        factors = (0..<count / 2).map {
            let angle = -2 * Double.pi * Double($0) / Double(count)
            return (Float(cosine(angle)), Float(sine(angle)))
        }
    }

    func callAsFunction(_ real: inout [Float], _ imaginary: inout [Float]) {
        for (index, other) in order.enumerated() where index < other {
            real.swapAt(index, other)
            imaginary.swapAt(index, other)
        }
        var half = 1
        while half < count {
            let step = count / (2 * half)
            for block in stride(from: 0, to: count, by: 2 * half) {
                for offset in 0..<half {
                    let factor = factors[offset * step]
                    let (low, high) = (block + offset, block + offset + half)
                    let turnedReal = real[high] * factor.cosine - imaginary[high] * factor.sine
                    let turnedImaginary = real[high] * factor.sine + imaginary[high] * factor.cosine
                    real[high] = real[low] - turnedReal
                    imaginary[high] = imaginary[low] - turnedImaginary
                    real[low] += turnedReal
                    imaginary[low] += turnedImaginary
                }
            }
            half *= 2
        }
    }
}
