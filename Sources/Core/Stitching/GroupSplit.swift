/// Splits the reading of a group by its utterances.
struct GroupSplit: Sendable {
    /// Longer readings are not aligned: the time grows with the square.
    private static let maxWords = 1_000

    private let speech: [SampleRange]

    init(_ group: UtteranceGroup) { speech = group.utterances.map(\.speech) }

    /// Returns the words of each utterance: those whose middle lies in its speech, or nearest to it.
    ///
    /// - Parameter words: In the order of their starts.
    func words(_ words: [Word]) -> [[Word]] {
        var pieces = [[Word]](repeating: [], count: speech.count)
        for (word, place) in zip(words, places(of: words)) { pieces[place].append(word) }
        return pieces
    }

    /// Returns the alternatives of each utterance: the part of each group alternative that corresponds to the
    /// utterance's words, by edit distance. Leaves out duplicates.
    ///
    /// - Parameter best: The best reading of the group, in the order of the words' starts.
    func alternatives(_ readings: [Alternative], to best: [Word]) -> [[Alternative]] {
        let places = places(of: best)
        let keys = best.map(\.key)
        var known: [Set<[String]>] = speech.indices.map { place in
            Set([zip(keys, places).filter { $1 == place && !$0.isEmpty }.map(\.0), []])
        }
        var pieces = [[Alternative]](repeating: [], count: speech.count)
        guard best.count <= Self.maxWords else { return pieces }
        for reading in readings {
            let words = reading.text.split(separator: " ").map(String.init)
            guard words.count <= Self.maxWords else { continue }
            let wordKeys = words.map { Word.key(of: $0) }
            var split = [[Int]](repeating: [], count: speech.count)
            var place = places.first ?? 0
            let numbered = WordErrors.numbered(wordKeys, keys)
            let counterparts = WordErrors.counterparts(of: numbered.first, in: numbered.second)
            for (index, counterpart) in counterparts.enumerated() {
                // An inserted word stays with the previous one.
                if let counterpart { place = places[counterpart] }
                split[place].append(index)
            }
            for (place, indices) in split.enumerated() {
                let key = indices.map { wordKeys[$0] }.filter { !$0.isEmpty }
                guard known[place].insert(key).inserted else { continue }
                pieces[place].append(
                    Alternative(
                        text: indices.map { words[$0] }.joined(separator: " "), confidence: reading.confidence))
            }
        }
        return pieces
    }

    /// Returns the index of each word's utterance, never decreasing.
    private func places(of words: [Word]) -> [Int] {
        var earliest = 0
        return words.map { word in
            let middle = word.range.middle
            var nearest = (place: earliest, distance: Int64.max)
            for place in earliest..<speech.count {
                let range = speech[place]
                let distance = max(0, range.start - middle, middle - range.end + 1)
                if distance < nearest.distance { nearest = (place, distance) }
            }
            earliest = nearest.place
            return earliest
        }
    }
}
