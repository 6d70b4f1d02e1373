/// The trigrams of a word. Like PostgreSQL's pg_trgm, compares spellings by the share of trigrams that two words have
/// in common.
struct Trigrams: Sendable {
    /// The minimum similarity of similar words.
    static let threshold = 0.3

    private let trigrams: Set<[Character]>

    /// - Parameter word: a word of letters and digits, in lower case.
    init(_ word: String) {
        let letters = [" ", " "] + Array(word) + [" "]
        trigrams = Set(letters.indices.dropLast(2).map { Array(letters[$0...$0 + 2]) })
    }

    /// Returns the similarity: 1 for equal words, 0 for words without a common trigram.
    func similarity(to other: Trigrams) -> Double {
        let common = trigrams.intersection(other.trigrams).count
        return Double(common) / Double(trigrams.count + other.trigrams.count - common)
    }
}
