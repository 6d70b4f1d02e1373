/// The voices of all windows, vectors of length 1, in half of the memory: 2.8 MB an hour of speech.
struct VoiceVectors {
    private var numbers: [Int16] = []
    private var size = 0
    private(set) var count = 0

    /// What a 1 is kept as; two vectors' similarity is told to a ten-thousandth.
    private static let one: Float = 32_767

    /// Appends a vector of length 1; all have as many numbers as the first.
    mutating func append(_ vector: [Float]) {
        if count == 0 { size = vector.count }
        precondition(vector.count == size, "vectors of one network have one length")
        for number in vector { numbers.append(Int16((number * Self.one).rounded())) }
        count += 1
    }

    subscript(index: Int) -> [Float] {
        numbers[index * size..<(index + 1) * size].map { Float($0) / Self.one }
    }
}
