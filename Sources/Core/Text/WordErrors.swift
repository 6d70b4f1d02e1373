/// Word errors of a hypothesis against a reference: substitutions, deletions and insertions.
package struct WordErrors: Hashable, Sendable {
    /// A step of an alignment; words are indices.
    package enum Step: Hashable, Sendable {
        case same(reference: Int, hypothesis: Int)
        case substituted(reference: Int, hypothesis: Int)
        case deleted(reference: Int)
        case inserted(hypothesis: Int)
    }

    /// Substitutions, deletions and insertions.
    package private(set) var errors = 0
    /// The number of words in the reference.
    package private(set) var words = 0

    /// The word error rate; may exceed 100.
    package var percent: Double { words == 0 ? 0 : 100 * Double(errors) / Double(words) }

    /// The word error rate, rounded to one decimal.
    package var roundedPercent: Double { (percent * 10).rounded() / 10 }

    /// Creates an empty count.
    package init() {}

    /// Compares texts word by word.
    package init(reference: [String], hypothesis: [String]) {
        words = reference.count
        errors = Self.align(reference, hypothesis).count { if case .same = $0 { false } else { true } }
    }

    /// Compares two texts by `Word.key`: ignores case and punctuation, and splits compounds.
    package init(said: String, read: String) {
        self.init(reference: Self.keys(of: said), hypothesis: Self.keys(of: read))
    }

    /// Adds counts.
    package static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.errors += right.errors
        sum.words += right.words
        return sum
    }

    /// Returns a shortest edit script from the reference to the hypothesis.
    package static func align(_ reference: [String], _ hypothesis: [String]) -> [Step] {
        let (reference, hypothesis) = numbered(reference, hypothesis)
        return align(numbered: reference, hypothesis)
    }

    /// Returns both texts with numbers for words, which compare faster.
    package static func numbered(_ first: [String], _ second: [String]) -> (first: [Int32], second: [Int32]) {
        var numbers: [String: Int32] = [:]
        func numbered(_ words: [String]) -> [Int32] {
            words.map { word in
                if let number = numbers[word] { return number }
                numbers[word] = Int32(numbers.count)
                return Int32(numbers.count - 1)
            }
        }
        return (numbered(first), numbered(second))
    }

    /// Returns for each word of `new` the index of the equal or replaced word of `old`; nil for an insertion.
    package static func counterparts(of new: [Int32], in old: [Int32]) -> [Int?] {
        var found = [Int?](repeating: nil, count: new.count)
        for step in align(numbered: old, new) {
            switch step {
            case .same(let reference, let hypothesis), .substituted(let reference, let hypothesis):
                found[hypothesis] = reference
            case .deleted, .inserted: break
            }
        }
        return found
    }

    private static func align(numbered reference: [Int32], _ hypothesis: [Int32]) -> [Step] {
        let width = hypothesis.count + 1
        var costs = [Int32](repeating: 0, count: (reference.count + 1) * width)
        for column in 0..<width { costs[column] = Int32(column) }
        for row in 0..<reference.count {
            costs[(row + 1) * width] = Int32(row + 1)
            for column in 0..<hypothesis.count {
                let above = row * width + column
                let substituted = costs[above] + (reference[row] == hypothesis[column] ? 0 : 1)
                costs[above + width + 1] = min(substituted, costs[above + 1] + 1, costs[above + width] + 1)
            }
        }
        var steps: [Step] = []
        var (row, column) = (reference.count, hypothesis.count)
        while row > 0 || column > 0 {
            let here = costs[row * width + column]
            if row > 0, column > 0 {
                let isSame = reference[row - 1] == hypothesis[column - 1]
                if here == costs[(row - 1) * width + column - 1] + (isSame ? 0 : 1) {
                    (row, column) = (row - 1, column - 1)
                    steps.append(
                        isSame
                            ? .same(reference: row, hypothesis: column)
                            : .substituted(reference: row, hypothesis: column))
                    continue
                }
            }
            if row > 0, here == costs[(row - 1) * width + column] + 1 {
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
