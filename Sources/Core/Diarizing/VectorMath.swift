/// Returns the unit vector in the same direction; nil if the length of the vector is 0 or not finite.
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
