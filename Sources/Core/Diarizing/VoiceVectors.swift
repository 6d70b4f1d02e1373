/// Stores the voice vectors of all windows as 16-bit numbers: 2.8 MB per hour of speech.
struct VoiceVectors {
    /// The number of vectors per block. A single array would need twice its memory each time it grows.
    private static let vectorsPerBlock = 512

    private var blocks: [[Int16]] = []
    private var dimensions = 0
    private(set) var count = 0
    /// The stored value for a component of 1. Similarities are accurate to 0.0001.
    private static let scale: Float = 32_767

    /// Appends a unit vector. All vectors must have the same number of dimensions.
    mutating func append(_ vector: [Float]) {
        if count == 0 { dimensions = vector.count }
        precondition(vector.count == dimensions, "all vectors must have the same number of dimensions")
        if count % Self.vectorsPerBlock == 0 {
            var block: [Int16] = []
            block.reserveCapacity(Self.vectorsPerBlock * dimensions)
            blocks.append(block)
        }
        for component in vector { blocks[blocks.count - 1].append(Int16((component * Self.scale).rounded())) }
        count += 1
    }

    subscript(index: Int) -> [Float] {
        let first = index % Self.vectorsPerBlock * dimensions
        return blocks[index / Self.vectorsPerBlock][first..<first + dimensions].map { Float($0) / Self.scale }
    }
}
