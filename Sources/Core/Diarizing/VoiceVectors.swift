/// The voices of all windows, vectors of length 1, in half of the memory: 2.8 MB an hour of speech.
struct VoiceVectors {
    /// Vectors of a block. What has been kept never moves, as in one array, which holds everything twice each time that it grows.
    private static let block = 512

    private var blocks: [[Int16]] = []
    private var size = 0
    private(set) var count = 0

    /// What a 1 is kept as; two vectors' similarity is told to a ten-thousandth.
    private static let one: Float = 32_767

    /// Appends a vector of length 1; all have as many numbers as the first.
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
