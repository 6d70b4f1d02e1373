/// A word that was not heard well, and what stands around it: a place to listen to again.
package struct Doubt: Hashable, Sendable {
    /// The segment's number.
    package var segment: Int
    /// The word itself.
    package var word: Word

    /// Up to four words of the segment before it, and after it.
    package var before: String
    /// Up to four words of the segment after it.
    package var after: String

    private static let around = 4

    /// The words least sure, worst first and at most so many; of those equally sure, the earlier first. Punctuation that stands alone
    /// is no word.
    package static func worst(_ most: Int, of segments: [Segment], below limit: Double = 1) -> [Doubt] {
        let places = segments.flatMap { segment in segment.words.indices.map { (segment, $0) } }
        let doubtful = places.filter {
            let word = $0.0.words[$0.1]
            return word.confidence < limit && !word.key.isEmpty
        }.enumerated().sorted { left, right in
            let (one, other) = (left.element, right.element)
            let confidences = (one.0.words[one.1].confidence, other.0.words[other.1].confidence)
            return (confidences.0, left.offset) < (confidences.1, right.offset)
        }
        return doubtful.prefix(max(0, most)).map { _, place in
            let (segment, index) = place
            let text = { (words: ArraySlice<Word>) in words.map(\.text).joined(separator: " ") }
            return Doubt(
                segment: segment.id, word: segment.words[index],
                before: text(segment.words[max(0, index - around)..<index]),
                after: text(segment.words[(index + 1)..<min(segment.words.count, index + 1 + around)]))
        }
    }
}
