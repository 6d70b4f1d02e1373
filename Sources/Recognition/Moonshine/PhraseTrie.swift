/// Preferred phrases, as tokens. Each token of a phrase earns a bonus, which is lost if the phrase is not completed.
///
/// A phrase starts at the beginning of a word, and is complete only before another word, a punctuation mark or the end.
/// A phrase that directly follows itself earns no bonus, so that a bonus cannot cause a loop.
struct PhraseTrie: Sendable {
    /// A hypothesis's position in the trie, and its bonus.
    struct Walk: Hashable, Sendable {
        /// The bonus for the completed phrases and the current one.
        var bonus: Double { settledBonus + pendingBonus }
        fileprivate var settledBonus = 0.0
        fileprivate var pendingBonus = 0.0
        fileprivate var node = 0
        /// The index of the last completed phrase if no other word has followed it.
        fileprivate var lastPhrase: Int?
    }

    private struct Node {
        var next: [Int: Int] = [:]
        /// The index of the phrase that ends at this node.
        var phrase: Int?
        /// The token's bonus, as a natural logarithm: the highest of any phrase through this node.
        var weight: Double
    }

    private let beginsWord: @Sendable (Int) -> Bool
    private let isMark: @Sendable (Int) -> Bool
    private var nodes = [Node(weight: 0)]

    /// - Parameters:
    ///   - phrases: the tokens of each spelling; all spellings of a phrase have the same index.
    ///   - weight: the bonus per token, as a natural logarithm.
    ///   - phraseWeights: different weights for some phrases, by phrase index.
    ///   - beginsWord: whether a token begins a word.
    ///   - isMark: whether a token is a punctuation mark or the end token. Both end a word.
    init(
        _ phrases: [(phrase: Int, tokens: [Int])], weight: Double, phraseWeights: [Int: Double] = [:],
        beginsWord: @escaping @Sendable (Int) -> Bool, isMark: @escaping @Sendable (Int) -> Bool
    ) {
        self.beginsWord = beginsWord
        self.isMark = isMark
        for (phrase, tokens) in phrases where !tokens.isEmpty {
            var node = 0
            let weight = phraseWeights[phrase] ?? weight
            for token in tokens {
                if let next = nodes[node].next[token] {
                    node = next
                } else {
                    nodes.append(Node(weight: weight))
                    nodes[node].next[token] = nodes.count - 1
                    node = nodes.count - 1
                }
                nodes[node].weight = max(nodes[node].weight, weight)
            }
            nodes[node].phrase = phrase
        }
    }

    /// Returns the tokens that continue or start a phrase.
    func continuations(of walk: Walk) -> [Int] {
        Array(nodes[walk.node].next.keys) + (walk.node == 0 ? [] : Array(nodes[0].next.keys))
    }

    /// Returns the walk after the next token.
    func walk(on walk: Walk, by token: Int) -> Walk {
        var walk = walk
        let endsWord = beginsWord(token) || isMark(token)
        if let next = nodes[walk.node].next[token], walk.node != 0 || beginsWord(token) {
            return step(walk, to: next)
        }
        if walk.node != 0 {
            // A phrase is complete only if its last word has ended.
            if endsWord, let phrase = nodes[walk.node].phrase {
                walk.settledBonus += walk.pendingBonus
                walk.lastPhrase = phrase
            }
            walk.pendingBonus = 0
            walk.node = 0
        }
        guard beginsWord(token) else { return walk }
        if let next = nodes[0].next[token] { return step(walk, to: next) }
        walk.lastPhrase = nil
        return walk
    }

    /// Returns the token ranges of complete phrases in a text; if two phrases have the same start, the longer one.
    func phrases(in tokens: [Int]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for start in tokens.indices where start >= ranges.last?.upperBound ?? 0 && beginsWord(tokens[start]) {
            var (node, position) = (0, start)
            var end: Int?
            while position < tokens.count, let next = nodes[node].next[tokens[position]] {
                (node, position) = (next, position + 1)
                let isWhole = position == tokens.count || beginsWord(tokens[position]) || isMark(tokens[position])
                if isWhole, nodes[node].phrase != nil { end = position }
            }
            if let end { ranges.append(start..<end) }
        }
        return ranges
    }

    private func step(_ walk: Walk, to next: Int) -> Walk {
        var walk = walk
        walk.node = next
        walk.pendingBonus += nodes[next].weight
        if let phrase = nodes[next].phrase, phrase == walk.lastPhrase { walk.pendingBonus = 0 }
        return walk
    }
}

extension PhraseTrie {
    /// Creates a trie of phrases: as written, in lowercase, and with the first or every word capitalized.
    init(_ phrases: [String], learned: [String], of tokenizer: Tokenizer, _ profile: MoonshineProfile) {
        // A phrase that is both listed and learned has the weight of a listed one.
        let listed = Set(phrases.map { $0.lowercased() })
        let onlyLearned = learned.filter { !listed.contains($0.lowercased()) }
        let learnedWeights = onlyLearned.indices.map { (phrases.count + $0, profile.learnedWeight) }
        let spelled = (phrases + onlyLearned).enumerated().flatMap { index, phrase in
            Self.spellings(of: phrase).map { (phrase: index, tokens: tokenizer.tokens(of: $0)) }
        }
        let marks = Set((0..<tokenizer.count).filter { Self.isMark(tokenizer.text(of: $0)) } + [Tokenizer.end])
        let beginnings = Set((0..<tokenizer.count).filter { tokenizer.beginsWord($0) })
        self.init(
            spelled, weight: profile.phraseWeight, phraseWeights: Dictionary(uniqueKeysWithValues: learnedWeights),
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
