/// The trigrams of a word. Compares spellings like PostgreSQL's pg_trgm: by the share of trigrams that both words have.
struct Trigrams: Sendable {
    /// The minimum similarity of similar words.
    static let threshold = 0.3

    private let groups: Set<[Character]>

    /// - Parameter word: a word of letters and digits, in lower case.
    init(_ word: String) {
        let letters = [" ", " "] + Array(word) + [" "]
        groups = Set(letters.indices.dropLast(2).map { Array(letters[$0...$0 + 2]) })
    }

    /// Returns the similarity: 1 for equal words, 0 for words without a common trigram.
    func similarity(to other: Trigrams) -> Double {
        let common = groups.intersection(other.groups).count
        return Double(common) / Double(groups.count + other.groups.count - common)
    }
}
