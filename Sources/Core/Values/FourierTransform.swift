import Glibc

/// The fast Fourier transform (radix 2), in place.
package struct FourierTransform: Sendable {
    private let count: Int
    private let order: [Int]
    private let factors: [(cosine: Float, sine: Float)]

    /// - Parameter count: The number of points, a power of two.
    package init(_ count: Int) {
        self.count = count
        let bits = count.trailingZeroBitCount
        order = (0..<count).map { index in
            (0..<bits).reduce(0) { $0 | ((index >> $1) & 1) << (bits - 1 - $1) }
        }
        factors = (0..<count / 2).map {
            let angle = -2 * Double.pi * Double($0) / Double(count)
            return (Float(cos(angle)), Float(sin(angle)))
        }
    }

    /// Transforms `count` complex numbers.
    package func callAsFunction(_ real: inout [Float], _ imaginary: inout [Float]) {
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
