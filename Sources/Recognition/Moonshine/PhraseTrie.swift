/// Phrases to prefer, by their tokens: each token along one of them is raised, and lowered again where the phrase is not
/// completed.
///
/// A phrase begins where a word begins, and is complete only where the next word begins, or a mark or the end follows. The same
/// phrase is not preferred twice in a row, so that preferring cannot make a loop.
struct PhraseTrie: Sendable {
    /// How far a hypothesis has come along a phrase.
    struct Walk: Hashable, Sendable {
        /// What is added to the hypothesis's score: of completed phrases, and of the one that is under way.
        var bonus: Double { settled + pending }
        fileprivate var settled = 0.0
        fileprivate var pending = 0.0
        fileprivate var node = 0
        /// The phrase that was completed last, where nothing was said since.
        fileprivate var last: Int?
    }

    private struct Node {
        var next: [Int: Int] = [:]
        /// The phrase that ends here.
        var phrase: Int?
        /// What its token is raised by, as a natural logarithm; of several phrases that have it the most.
        var weight: Double
    }

    private let beginsWord: @Sendable (Int) -> Bool
    private let isMark: @Sendable (Int) -> Bool
    private var nodes = [Node(weight: 0)]

    /// - Parameters:
    ///   - phrases: the tokens of each; several spellings of one phrase have the same number.
    ///   - weight: what each token is raised by, as a natural logarithm.
    ///   - others: the same for phrases with a weight of their own, by their number.
    ///   - beginsWord: whether a token begins a word.
    ///   - isMark: whether a token is a mark or the end, behind which a word is over.
    init(
        _ phrases: [(number: Int, tokens: [Int])], weight: Double, others: [Int: Double] = [:],
        beginsWord: @escaping @Sendable (Int) -> Bool, isMark: @escaping @Sendable (Int) -> Bool
    ) {
        self.beginsWord = beginsWord
        self.isMark = isMark
        for (number, tokens) in phrases where !tokens.isEmpty {
            var node = 0
            let weight = others[number] ?? weight
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
            nodes[node].phrase = number
        }
    }

    /// Tokens that would go on along a phrase, or begin one.
    func continuations(of walk: Walk) -> [Int] {
        Array(nodes[walk.node].next.keys) + (walk.node == 0 ? [] : Array(nodes[0].next.keys))
    }

    /// The walk behind one more token.
    func walk(on walk: Walk, by token: Int) -> Walk {
        var walk = walk
        let endsWord = beginsWord(token) || isMark(token)
        if let next = nodes[walk.node].next[token], walk.node != 0 || beginsWord(token) {
            return step(walk, to: next)
        }
        if walk.node != 0 {
            // Behind its last token a phrase is complete where the word is over, too.
            if endsWord, let phrase = nodes[walk.node].phrase {
                walk.settled += walk.pending
                walk.last = phrase
            }
            walk.pending = 0
            walk.node = 0
        }
        guard beginsWord(token) else { return walk }
        if let next = nodes[0].next[token] { return step(walk, to: next) }
        walk.last = nil
        return walk
    }

    /// The whole phrases of a text, each as the places of its tokens; of two that begin together the longer one.
    func phrases(in tokens: [Int]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        for start in tokens.indices where start >= found.last?.upperBound ?? 0 && beginsWord(tokens[start]) {
            var (node, place) = (0, start)
            var end: Int?
            while place < tokens.count, let next = nodes[node].next[tokens[place]] {
                (node, place) = (next, place + 1)
                let isWhole = place == tokens.count || beginsWord(tokens[place]) || isMark(tokens[place])
                if isWhole, nodes[node].phrase != nil { end = place }
            }
            if let end { found.append(start..<end) }
        }
        return found
    }

    private func step(_ walk: Walk, to next: Int) -> Walk {
        var walk = walk
        walk.node = next
        walk.pending += nodes[next].weight
        if let phrase = nodes[next].phrase, phrase == walk.last { walk.pending = 0 }
        return walk
    }
}
