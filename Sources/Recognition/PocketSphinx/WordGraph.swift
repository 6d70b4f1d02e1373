/// The words of a piece of audio as a graph: each path contains all words in order, each in one of its spoken forms.
struct WordGraph {
    /// The spoken forms of each written word; empty for a word that is not spoken.
    let variants: [[[String]]]
    private(set) var states = 1
    private(set) var from: [Int32] = []
    private(set) var to: [Int32] = []
    /// The words on the graph's edges.
    private(set) var words: [String] = []

    init(_ variants: [[[String]]]) {
        self.variants = variants
        var wordStart = 0
        for wordVariants in variants where !wordVariants.isEmpty {
            // The states within forms come first, followed by the state where the forms meet.
            let inner = wordVariants.reduce(0) { $0 + $1.count - 1 }
            var next = wordStart + 1
            let wordEnd = wordStart + 1 + inner
            for variant in wordVariants {
                var state = wordStart
                for (index, word) in variant.enumerated() {
                    let target = index + 1 == variant.count ? wordEnd : next
                    if index + 1 < variant.count { next += 1 }
                    from.append(Int32(state))
                    to.append(Int32(target))
                    words.append(word)
                    state = target
                }
            }
            wordStart = wordEnd
        }
        states = wordStart + 1
    }

    /// Returns the range of spoken words that belong to each written word; nil if the spoken words are not a path
    /// through the graph.
    func ranges(of spokenWords: [String]) -> [Range<Int>]? {
        // The possible ends of each word, with the corresponding starts.
        var possibleEnds: [[Int: Int]] = [[0: 0]]
        for wordVariants in variants {
            var ends: [Int: Int] = [:]
            for start in possibleEnds[possibleEnds.count - 1].keys {
                if wordVariants.isEmpty { ends[start] = start }
                for variant in wordVariants where spokenWords[start...].starts(with: variant) {
                    ends[start + variant.count] = start
                }
            }
            guard !ends.isEmpty else { return nil }
            possibleEnds.append(ends)
        }
        var (ranges, end) = ([Range<Int>](), spokenWords.count)
        for ends in possibleEnds.dropFirst().reversed() {
            guard let start = ends[end] else { return nil }
            ranges.append(start..<end)
            end = start
        }
        return ranges.reversed()
    }
}
