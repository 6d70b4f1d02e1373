/// Word error rate: substitutions, deletions and insertions over the reference's words.
package struct WordErrorRate: Hashable, Sendable {
    /// How one word of either text fares against the other.
    package enum Step: Hashable, Sendable {
        case same(reference: Int, hypothesis: Int)
        case substituted(reference: Int, hypothesis: Int)
        case deleted(reference: Int)
        case inserted(hypothesis: Int)
    }

    package private(set) var errors = 0
    package private(set) var words = 0

    package var percent: Double { words == 0 ? 0 : 100 * Double(errors) / Double(words) }

    package init() {}

    /// Compares two texts after normalisation.
    package init(reference: String, hypothesis: String) {
        let reference = Self.normalized(reference)
        words = reference.count
        errors = Self.align(reference, Self.normalized(hypothesis)).count {
            if case .same = $0 { false } else { true }
        }
    }

    /// The errors and words of both.
    package static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.errors += right.errors
        sum.words += right.words
        return sum
    }

    /// A cheapest way from the reference to the hypothesis, in the order of both.
    package static func align(_ reference: [String], _ hypothesis: [String]) -> [Step] {
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

    /// Lower case, letters, digits and apostrophes only; spellings, abbreviations and numbers up to ten made alike; fillers,
    /// and what stands in angle or square brackets, left out. The same for every engine.
    package static func normalized(_ text: String) -> [String] {
        withoutBrackets(text.lowercased()).replacing("i.e.", with: "that is").map { $0 == "’" || $0 == "‘" ? "'" : $0 }
            .split { !($0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "'") }
            .flatMap { word -> [String] in
                let word = String(word.drop { $0 == "'" })
                let bare = String(word.reversed().drop { $0 == "'" }.reversed())
                guard !bare.isEmpty, !fillers.contains(bare) else { return [] }
                return (spoken[bare] ?? bare).split(separator: " ").map(String.init)
            }
    }

    /// Without `<sil>`, `[noise]` and the `(2)` behind a word's other pronunciation.
    private static func withoutBrackets(_ text: String) -> String {
        text.replacing(#/<[^>]*>|\[[^\]]*\]/#, with: " ").replacing(#/\([0-9]+\)/#, with: "")
    }

    private static let fillers: Set = ["uh", "um", "hmm", "mm"]

    private static let spoken = [
        "0": "zero", "1": "one", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven",
        "8": "eight", "9": "nine", "10": "ten", "mr": "mister", "mrs": "missus", "dr": "doctor", "st": "saint",
        "ok": "okay", "alright": "all right", "tonight": "to night", "today": "to day", "tomorrow": "to morrow",
        "yknow": "you know", "grey": "gray", "flavour": "flavor", "colour": "color", "humours": "humors",
        "favour": "favor", "honour": "honor", "upstairs": "up stairs", "anyone": "any one", "everyone": "every one",
        "schoolboy": "school boy", "schoolgirl": "school girl", "theatre": "theater", "enquired": "inquired",
        "worshippers": "worshipers", "etc": "et cetera", "gonna": "going to",
    ]
}
