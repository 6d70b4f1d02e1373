/// What was read of a group as one, told apart by its utterances. Pure.
struct GroupSplit: Sendable {
    /// Readings with more words than fit into any group are not aligned: the time that takes grows with the square.
    private static let mostWords = 1_000

    private let speech: [SampleRange]

    init(_ group: UtteranceGroup) { speech = group.utterances.map(\.speech) }

    /// The words of each utterance: those whose middle lies in its speech or, where that lies in none, is nearest to it.
    ///
    /// - Parameter words: in the order in which they begin.
    func words(_ words: [Word]) -> [[Word]] {
        var pieces = [[Word]](repeating: [], count: speech.count)
        for (word, place) in zip(words, places(of: words)) { pieces[place].append(word) }
        return pieces
    }

    /// The other readings of each utterance: what each reading of the group has in the place of the utterance's words, by the
    /// fewest words that differ. What says the same as the best reading there, or as a better one, is left out.
    ///
    /// - Parameter best: the best reading of the whole group, in the order in which its words begin.
    func alternatives(_ readings: [Alternative], to best: [Word]) -> [[Alternative]] {
        let places = places(of: best)
        let keys = best.map(\.key)
        var known: [Set<[String]>] = speech.indices.map { place in
            Set([zip(keys, places).filter { $1 == place && !$0.isEmpty }.map(\.0), []])
        }
        var pieces = [[Alternative]](repeating: [], count: speech.count)
        guard best.count <= Self.mostWords else { return pieces }
        for reading in readings {
            let words = reading.text.split(separator: " ").map(String.init)
            guard words.count <= Self.mostWords else { continue }
            let wordKeys = words.map { Word.key(of: $0) }
            var split = [[Int]](repeating: [], count: speech.count)
            var place = places.first ?? 0
            for (index, counterpart) in WordAlignment.counterparts(of: wordKeys, in: keys).enumerated() {
                // A word that the best reading lacks stays with the one before it.
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

    /// For each word the index of its utterance; never one before that of the word before.
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
