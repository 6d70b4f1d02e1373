/// A word that was not heard well, and what stands around it: a place to listen to again.
package struct UncertainWord: Hashable, Sendable {
    /// The segment's number.
    package var segment: Int
    /// The word itself.
    package var word: Word

    /// Up to four words of the segment before it, and after it.
    package var before: String
    /// Up to four words of the segment after it.
    package var after: String

    private static let around = 4
    /// A word that is so sure at least is no doubt, and so short at most teaches nothing: `the`, `in`.
    private static let (sure, short) = (0.5, 3)

    /// The words whose answer would teach most, at most so many, as `order` has them. Punctuation that stands alone is no word.
    package static func worst(_ most: Int, of segments: [Segment], below limit: Double = 1) -> [UncertainWord] {
        let places = segments.flatMap { segment in segment.words.indices.map { (segment, $0) } }
        let doubtful = places.filter {
            let word = $0.0.words[$0.1]
            return word.confidence < limit && !word.key.isEmpty
        }
        return order(doubtful.map { $0.0.words[$0.1] }).prefix(max(0, most)).map { place in
            let (segment, index) = doubtful[place]
            let text = { (words: ArraySlice<Word>) in words.map(\.text).joined(separator: " ") }
            return UncertainWord(
                segment: segment.id, word: segment.words[index],
                before: text(segment.words[max(0, index - around)..<index]),
                after: text(segment.words[(index + 1)..<min(segment.words.count, index + 1 + around)]))
        }
    }

    /// In which order words should be asked for: where one is doubtful at many places, the least sure of these stands for all and comes
    /// first, since its answer is likely to be that of the others, and a name that is often missed is worth most. The others follow by
    /// how unsure they are; of those equally sure the earlier.
    ///
    /// - Returns: the words' indices.
    package static func order(_ words: [Word]) -> [Int] {
        var first: [String: Int] = [:]
        var sums: [String: Double] = [:]
        for (index, word) in words.enumerated() where word.confidence < sure && word.key.count > short {
            sums[word.key, default: 0] += 1 - word.confidence
            let known = first[word.key]
            if known.map({ word.confidence < words[$0].confidence }) ?? true { first[word.key] = index }
        }
        let scores = words.enumerated().map { index, word in
            first[word.key] == index ? sums[word.key] ?? 0 : 1 - word.confidence
        }
        return words.indices.sorted { (scores[$1], $0) < (scores[$0], $1) }
    }
}
