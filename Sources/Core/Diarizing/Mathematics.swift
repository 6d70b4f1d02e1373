import Glibc

func cosine(_ angle: Double) -> Double { Glibc.cos(angle) }
func sine(_ angle: Double) -> Double { Glibc.sin(angle) }
func power(_ base: Double, _ exponent: Double) -> Double { Glibc.pow(base, exponent) }
func exponential(_ number: Float) -> Float { Glibc.expf(number) }
func decimalLogarithm(_ number: Float) -> Float { Glibc.log10f(number) }
func naturalLogarithm(_ number: Double) -> Double { Glibc.log(number) }

/// The numbers with a length of 1; nil where they have none, or one is no number.
func normalized(_ vector: [Float]) -> [Float]? {
    let length = dot(vector, vector).squareRoot()
    guard length.isFinite, length > 1e-12 else { return nil }
    return vector.map { $0 / length }
}

func dot(_ left: [Float], _ right: [Float]) -> Float {
    left.withUnsafeBytes { left in
        right.withUnsafeBytes { right in
            let size = MemoryLayout<Float>.size
            let count = min(left.count, right.count) / size
            var sums = SIMD8<Float>()
            var index = 0
            while index + 8 <= count {
                sums +=
                    left.loadUnaligned(fromByteOffset: index * size, as: SIMD8<Float>.self)
                    * right.loadUnaligned(fromByteOffset: index * size, as: SIMD8<Float>.self)
                index += 8
            }
            var sum = sums.sum()
            while index < count {
                sum +=
                    left.load(fromByteOffset: index * size, as: Float.self)
                    * right.load(fromByteOffset: index * size, as: Float.self)
                index += 1
            }
            return sum
        }
    }
}
