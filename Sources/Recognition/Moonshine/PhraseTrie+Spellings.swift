extension PhraseTrie {
    /// Creates a trie of phrases in lowercase, capitalized and uppercase spellings.
    init(_ phrases: [String], learned: [String], of tokenizer: Tokenizer, _ profile: MoonshineProfile) {
        // A phrase that is both listed and learned counts as listed.
        let listed = Set(phrases.map { $0.lowercased() })
        let others = learned.filter { !listed.contains($0.lowercased()) }
        let learnedWeights = others.indices.map { (phrases.count + $0, profile.learnedWeight) }
        let spelled = (phrases + others).enumerated().flatMap { number, phrase in
            Self.spellings(of: phrase).map { (number: number, tokens: tokenizer.tokens(of: $0)) }
        }
        let marks = Set((0..<tokenizer.count).filter { Self.isMark(tokenizer.text(of: $0)) } + [Tokenizer.end])
        let beginnings = Set((0..<tokenizer.count).filter { tokenizer.beginsWord($0) })
        self.init(
            spelled, weight: profile.phraseWeight, others: Dictionary(uniqueKeysWithValues: learnedWeights),
            beginsWord: { beginnings.contains($0) }, isMark: { marks.contains($0) })
    }

    private static func spellings(of phrase: String) -> [String] {
        let words = phrase.split(whereSeparator: \.isWhitespace).map(String.init)
        let capital = { (word: String) in word.prefix(1).uppercased() + word.dropFirst() }
        let forms = [
            words, words.map { $0.lowercased() }, words.map(capital),
            words.prefix(1).map(capital) + words.dropFirst(), words.map { capital($0.lowercased()) },
        ]
        return forms.map { $0.joined(separator: " ") }.unique
    }

    private static func isMark(_ piece: [UInt8]) -> Bool {
        guard let first = piece.first else { return false }
        return Array(",.;:!?-)\"'".utf8).contains(first)
    }
}
