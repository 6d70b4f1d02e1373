import TestKit

/// Counts word errors separately for the words of a list and for all other words.
struct ListedErrors {
    struct Share {
        /// The number of words in the reference.
        var count = 0
        var wrongCount = 0

        var percent: Double { 100 * Double(wrongCount) / Double(max(1, count)) }
    }

    var listed = Share()
    /// The words that are not in the list; `wrongCount` includes all inserted words.
    var others = Share()

    /// Adds the errors of a text. All words must be normalized with `WordErrorRate.normalized`.
    mutating func add(_ reference: [String], _ recognized: [String], list: Set<String>) {
        func add(_ word: Int, isWrong: Bool) {
            let share = list.contains(reference[word]) ? \ListedErrors.listed : \ListedErrors.others
            self[keyPath: share].count += 1
            if isWrong { self[keyPath: share].wrongCount += 1 }
        }
        for step in WordErrorRate.align(reference, recognized) {
            switch step {
            case .same(let word, _): add(word, isWrong: false)
            case .deleted(let word), .substituted(let word, _): add(word, isWrong: true)
            case .inserted: others.wrongCount += 1
            }
        }
    }
}
