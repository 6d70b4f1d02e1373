import Glibc

/// The radix-2 fast Fourier transform, in place.
package struct FourierTransform: Sendable {
    private let count: Int
    private let bitReversed: [Int]
    private let factors: [(cosine: Float, sine: Float)]

    /// - Parameter count: The number of points, a power of two.
    package init(_ count: Int) {
        self.count = count
        let bits = count.trailingZeroBitCount
        bitReversed = (0..<count).map { index in
            (0..<bits).reduce(0) { $0 | ((index >> $1) & 1) << (bits - 1 - $1) }
        }
        factors = (0..<count / 2).map {
            let angle = -2 * Double.pi * Double($0) / Double(count)
            return (Float(cos(angle)), Float(sin(angle)))
        }
    }

    /// Transforms `count` complex numbers in place.
    package func callAsFunction(_ real: inout [Float], _ imaginary: inout [Float]) {
        for (index, reversedIndex) in bitReversed.enumerated() where index < reversedIndex {
            real.swapAt(index, reversedIndex)
            imaginary.swapAt(index, reversedIndex)
        }
        var half = 1
        while half < count {
            let step = count / (2 * half)
            for block in stride(from: 0, to: count, by: 2 * half) {
                for offset in 0..<half {
                    let factor = factors[offset * step]
                    let (low, high) = (block + offset, block + offset + half)
                    let rotatedReal = real[high] * factor.cosine - imaginary[high] * factor.sine
                    let rotatedImaginary = real[high] * factor.sine + imaginary[high] * factor.cosine
                    real[high] = real[low] - rotatedReal
                    imaginary[high] = imaginary[low] - rotatedImaginary
                    real[low] += rotatedReal
                    imaginary[low] += rotatedImaginary
                }
            }
            half *= 2
        }
    }
}
