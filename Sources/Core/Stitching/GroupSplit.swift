/// Splits a group's hypothesis by utterance.
struct GroupSplit: Sendable {
    /// Texts with more words are not aligned, since alignment takes quadratic time.
    private static let maximumWords = 1_000

    private let speech: [SampleRange]

    init(_ group: UtteranceGroup) { speech = group.utterances.map(\.speech) }

    /// Assigns each word to the utterance whose speech is nearest to the word's midpoint. Returns the words of each
    /// utterance.
    ///
    /// - Parameter words: Sorted by start.
    func words(_ words: [Word]) -> [[Word]] {
        var split = [[Word]](repeating: [], count: speech.count)
        for (word, utterance) in zip(words, utteranceIndices(of: words)) { split[utterance].append(word) }
        return split
    }

    /// Splits the group's alternatives by utterance. Their words are aligned with those of the best hypothesis by
    /// edit distance. Leaves out duplicates, empty texts, and texts that equal the best hypothesis.
    ///
    /// - Parameter best: The words of the best hypothesis, sorted by start.
    func alternatives(_ groupAlternatives: [Alternative], to best: [Word]) -> [[Alternative]] {
        let bestIndices = utteranceIndices(of: best)
        let keys = best.map(\.key)
        var seenKeys: [Set<[String]>] = speech.indices.map { utterance in
            Set([zip(keys, bestIndices).filter { $1 == utterance && !$0.isEmpty }.map(\.0), []])
        }
        var alternatives = [[Alternative]](repeating: [], count: speech.count)
        guard best.count <= Self.maximumWords else { return alternatives }
        for alternative in groupAlternatives {
            let words = alternative.text.split(separator: " ").map(String.init)
            guard words.count <= Self.maximumWords else { continue }
            let wordKeys = words.map { Word.key(of: $0) }
            var split = [[Int]](repeating: [], count: speech.count)
            var utterance = bestIndices.first ?? 0
            let numbered = WordErrors.numbered(wordKeys, keys)
            let counterparts = WordErrors.counterparts(of: numbered.first, in: numbered.second)
            for (index, counterpart) in counterparts.enumerated() {
                // An inserted word goes to the same utterance as the previous word.
                if let counterpart { utterance = bestIndices[counterpart] }
                split[utterance].append(index)
            }
            for (utterance, indices) in split.enumerated() {
                let key = indices.map { wordKeys[$0] }.filter { !$0.isEmpty }
                guard seenKeys[utterance].insert(key).inserted else { continue }
                alternatives[utterance].append(
                    Alternative(
                        text: indices.map { words[$0] }.joined(separator: " "), confidence: alternative.confidence))
            }
        }
        return alternatives
    }

    /// Returns the index of each word's utterance. The indices never decrease.
    private func utteranceIndices(of words: [Word]) -> [Int] {
        var earliest = 0
        return words.map { word in
            let middle = word.range.middle
            var nearest = (index: earliest, distance: Int64.max)
            for index in earliest..<speech.count {
                let range = speech[index]
                let distance = max(0, range.start - middle, middle - range.end + 1)
                if distance < nearest.distance { nearest = (index, distance) }
            }
            earliest = nearest.index
            return earliest
        }
    }
}
