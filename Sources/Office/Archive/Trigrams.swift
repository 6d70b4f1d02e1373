/// How much alike two words are written, as PostgreSQL's pg_trgm has it: the share of their groups of three letters that both have. Pure.
struct Trigrams: Sendable {
    /// From here on words are alike.
    static let threshold = 0.3

    private let groups: Set<[Character]>

    /// - Parameter word: letters and digits in lower case.
    init(_ word: String) {
        let letters = [" ", " "] + Array(word) + [" "]
        groups = Set(letters.indices.dropLast(2).map { Array(letters[$0...$0 + 2]) })
    }

    /// 1 for the same word, 0 where they have nothing in common.
    func similarity(to other: Trigrams) -> Double {
        let common = groups.intersection(other.groups).count
        return Double(common) / Double(groups.count + other.groups.count - common)
    }
}
