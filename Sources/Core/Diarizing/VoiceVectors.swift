/// Stores the voice vectors of all windows as 16-bit numbers: 2.8 MB per hour of speech.
struct VoiceVectors {
    /// The number of vectors per block. Blocks never move, unlike a single array, which needs twice its memory each
    /// time it grows.
    private static let vectorsPerBlock = 512

    private var blocks: [[Int16]] = []
    private var size = 0
    private(set) var count = 0
    /// The stored value for 1. Similarities are accurate to 0.0001.
    private static let scale: Float = 32_767

    /// Appends a unit vector, with as many dimensions as the first.
    mutating func append(_ vector: [Float]) {
        if count == 0 { size = vector.count }
        precondition(vector.count == size, "all vectors must have the same number of dimensions")
        if count % Self.vectorsPerBlock == 0 {
            var block: [Int16] = []
            block.reserveCapacity(Self.vectorsPerBlock * size)
            blocks.append(block)
        }
        for number in vector { blocks[blocks.count - 1].append(Int16((number * Self.scale).rounded())) }
        count += 1
    }

    subscript(index: Int) -> [Float] {
        let first = index % Self.vectorsPerBlock * size
        return blocks[index / Self.vectorsPerBlock][first..<first + size].map { Float($0) / Self.scale }
    }
}
