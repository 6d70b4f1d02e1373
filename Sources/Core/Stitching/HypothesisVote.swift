/// Merges two results for the same speech, word by word, like ROVER (Fiscus 1997, "A post-processing system to yield
/// reduced word error rates").
package enum HypothesisVote {
    /// The confidence of a result that has no words where the other result has some.
    private static let emptyConfidence = 0.5

    /// Returns the words of the first result. Where the results differ, the words with the higher mean confidence win.
    ///
    /// - Parameters:
    ///   - first: the words of the first result, in chronological order.
    ///   - second: the words of the second result, in chronological order.
    /// - Returns: words in chronological order, without overlaps.
    package static func merged(_ first: [Word], _ second: [Word]) -> [Word] {
        var words: [Word] = []
        var differing: (first: [Word], second: [Word]) = ([], [])
        func vote() {
            let first = differing.first.meanConfidence ?? emptyConfidence
            let isSecondBetter = differing.second.meanConfidence ?? emptyConfidence > first
            words += isSecondBetter ? differing.second : differing.first
            differing = ([], [])
        }
        for step in WordErrors.align(first.map(\.key), second.map(\.key)) {
            switch step {
            case .same(let index, _):
                vote()
                words.append(first[index])
            case .substituted(let index, let otherIndex):
                differing.first.append(first[index])
                differing.second.append(second[otherIndex])
            case .deleted(let index): differing.first.append(first[index])
            case .inserted(let otherIndex): differing.second.append(second[otherIndex])
            }
        }
        vote()
        // Neighbors from different results can overlap, because each result has its own times.
        return Stitcher.trimmed(words, from: .zero)
    }
}
