import TestKit

/// Word errors on words of a list, and on all others.
struct ListedErrors {
    struct Share {
        var said = 0
        var wrong = 0

        var percent: Double { 100 * Double(wrong) / Double(max(1, said)) }
    }

    var listed = Share()
    /// Includes all inserted words.
    var others = Share()

    /// - Parameter list: words in the form of `WordErrorRate.normalized`, as in both texts.
    mutating func add(_ reference: [String], _ written: [String], list: Set<String>) {
        func add(_ word: Int, isWrong: Bool) {
            let share = list.contains(reference[word]) ? \ListedErrors.listed : \ListedErrors.others
            self[keyPath: share].said += 1
            if isWrong { self[keyPath: share].wrong += 1 }
        }
        for step in WordErrorRate.align(reference, written) {
            switch step {
            case .same(let word, _): add(word, isWrong: false)
            case .deleted(let word), .substituted(let word, _): add(word, isWrong: true)
            case .inserted: others.wrong += 1
            }
        }
    }
}
