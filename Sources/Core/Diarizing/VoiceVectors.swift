/// The voice vectors of all windows as 16-bit numbers: 2.8 MB per hour of speech.
struct VoiceVectors {
    /// Vectors in a block. Blocks never move, unlike one array, which needs twice its memory each time it grows.
    private static let block = 512

    private var blocks: [[Int16]] = []
    private var size = 0
    private(set) var count = 0
    /// The stored value of 1; similarities are exact to 0.0001.
    private static let one: Float = 32_767

    /// Appends a vector of length 1, with as many numbers as the first.
    mutating func append(_ vector: [Float]) {
        if count == 0 { size = vector.count }
        precondition(vector.count == size, "vectors of one network have one length")
        if count % Self.block == 0 {
            var block: [Int16] = []
            block.reserveCapacity(Self.block * size)
            blocks.append(block)
        }
        for number in vector { blocks[blocks.count - 1].append(Int16((number * Self.one).rounded())) }
        count += 1
    }

    subscript(index: Int) -> [Float] {
        let first = index % Self.block * size
        return blocks[index / Self.block][first..<first + size].map { Float($0) / Self.one }
    }
}
