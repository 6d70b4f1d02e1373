/// The word errors in a hypothesis, compared to a reference: substitutions, deletions and insertions.
package struct WordErrors: Hashable, Sendable {
    /// A step in an alignment. Words are identified by index.
    package enum Step: Hashable, Sendable {
        case same(reference: Int, hypothesis: Int)
        case substituted(reference: Int, hypothesis: Int)
        case deleted(reference: Int)
        case inserted(hypothesis: Int)
    }

    /// The total number of substitutions, deletions and insertions.
    package private(set) var errors = 0
    /// The number of words in the reference.
    package private(set) var words = 0

    /// The word error rate in percent; may exceed 100.
    package var percent: Double { words == 0 ? 0 : 100 * Double(errors) / Double(words) }

    package var roundedPercent: Double { (percent * 10).rounded() / 10 }

    /// Creates a count of zero errors and zero words.
    package init() {}

    /// Counts the errors between two lists of words.
    package init(reference: [String], hypothesis: [String]) {
        words = reference.count
        errors = Self.align(reference, hypothesis).count { if case .same = $0 { false } else { true } }
    }

    /// Counts the errors between two texts. Splits hyphenated words and ignores case and punctuation.
    package init(referenceText reference: String, hypothesisText hypothesis: String) {
        self.init(reference: Self.keys(of: reference), hypothesis: Self.keys(of: hypothesis))
    }

    /// Adds the errors and words of two counts.
    package static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.errors += right.errors
        sum.words += right.words
        return sum
    }

    /// Returns a shortest edit script that turns the reference into the hypothesis.
    package static func align(_ reference: [String], _ hypothesis: [String]) -> [Step] {
        let (reference, hypothesis) = numbered(reference, hypothesis)
        return align(numbered: reference, hypothesis)
    }

    /// Returns both lists with each distinct word replaced by an ID, since integers compare faster.
    package static func numbered(_ first: [String], _ second: [String]) -> (first: [Int32], second: [Int32]) {
        var idOfWord: [String: Int32] = [:]
        func ids(of words: [String]) -> [Int32] {
            words.map { word in
                if let id = idOfWord[word] { return id }
                idOfWord[word] = Int32(idOfWord.count)
                return Int32(idOfWord.count - 1)
            }
        }
        return (ids(of: first), ids(of: second))
    }

    /// Returns for each word in `new` the index of the word in `old` that it equals or replaces; nil for insertions.
    package static func counterparts(of new: [Int32], in old: [Int32]) -> [Int?] {
        var counterparts = [Int?](repeating: nil, count: new.count)
        for step in align(numbered: old, new) {
            switch step {
            case .same(let reference, let hypothesis), .substituted(let reference, let hypothesis):
                counterparts[hypothesis] = reference
            case .deleted, .inserted: break
            }
        }
        return counterparts
    }

    private static func align(numbered reference: [Int32], _ hypothesis: [Int32]) -> [Step] {
        let width = hypothesis.count + 1
        var costs = [Int32](repeating: 0, count: (reference.count + 1) * width)
        for column in 0..<width { costs[column] = Int32(column) }
        for row in 0..<reference.count {
            costs[(row + 1) * width] = Int32(row + 1)
            for column in 0..<hypothesis.count {
                let diagonal = row * width + column
                let substituted = costs[diagonal] + (reference[row] == hypothesis[column] ? 0 : 1)
                costs[diagonal + width + 1] = min(substituted, costs[diagonal + 1] + 1, costs[diagonal + width] + 1)
            }
        }
        var steps: [Step] = []
        var (row, column) = (reference.count, hypothesis.count)
        while row > 0 || column > 0 {
            let cost = costs[row * width + column]
            if row > 0, column > 0 {
                let isSame = reference[row - 1] == hypothesis[column - 1]
                if cost == costs[(row - 1) * width + column - 1] + (isSame ? 0 : 1) {
                    (row, column) = (row - 1, column - 1)
                    steps.append(
                        isSame
                            ? .same(reference: row, hypothesis: column)
                            : .substituted(reference: row, hypothesis: column))
                    continue
                }
            }
            if row > 0, cost == costs[(row - 1) * width + column] + 1 {
                row -= 1
                steps.append(.deleted(reference: row))
            } else {
                column -= 1
                steps.append(.inserted(hypothesis: column))
            }
        }
        return steps.reversed()
    }

    private static func keys(of text: String) -> [String] {
        text.split { $0.isWhitespace || "-‐‑–—".contains($0) }.map { Word.key(of: String($0)) }.filter { !$0.isEmpty }
    }
}
