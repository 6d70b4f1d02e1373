import Core

/// A low-confidence word in its context, to listen to again; or an unclear segment, as the word `[unclear]` before the
/// held-back text.
struct UncertainWord: Hashable, Sendable {
    var segment: Int
    var word: Word
    /// Up to four words of the segment before it.
    var before: String
    /// Up to four words of the segment after it.
    var after: String
    var isUnclear = false

    private static let around = 4
    /// The confidence from which a word is certain, and the length up to which it is not worth learning: `the`, `in`.
    private static let (sure, short) = (0.5, 3)

    /// Returns up to `most` words: unclear segments first, then the others in the order of `order`. Ignores lone punctuation.
    static func worst(_ most: Int, of segments: [Segment], below limit: Double = 1) -> [UncertainWord] {
        let unclear = segments.compactMap { segment in
            segment.heldBack.map {
                UncertainWord(
                    segment: segment.id, word: segment.shownWords[0], before: "", after: $0, isUnclear: true)
            }
        }
        let places = segments.flatMap { segment in segment.words.indices.map { (segment, $0) } }
        let uncertain = places.filter {
            let word = $0.0.words[$0.1]
            return word.confidence < limit && !word.key.isEmpty
        }
        let worst = order(uncertain.map { $0.0.words[$0.1] }).prefix(max(0, most - unclear.count)).map { place in
            let (segment, index) = uncertain[place]
            let text = { (words: ArraySlice<Word>) in words.map(\.text).joined(separator: " ") }
            return UncertainWord(
                segment: segment.id, word: segment.words[index],
                before: text(segment.words[max(0, index - around)..<index]),
                after: text(segment.words[(index + 1)..<min(segment.words.count, index + 1 + around)]))
        }
        return unclear.prefix(max(0, most)) + worst
    }

    /// Returns the indices of words in the order to review them. For a word that is uncertain in many places, the least
    /// certain one represents all and comes first: the answer is likely the same, and a name that is often missed is
    /// worth most. The others follow by confidence, then by time.
    static func order(_ words: [Word]) -> [Int] {
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

/// A low-confidence word and its position, for `review`.
package struct UncertainWordRow: Encodable {
    package let recording: Int
    /// If there are several.
    package let recorder: String?
    private let segment: Int
    private let start: Double
    private let end: Double
    private let text: String
    private let confidence: Double
    private let before: String
    private let after: String
    /// True if the segment's text was rejected: `after` is the held-back text.
    private let unclear: Bool?

    fileprivate init(_ word: UncertainWord, of recording: Int, _ recorder: String?) {
        (self.recording, self.recorder) = (recording, recorder)
        segment = word.segment
        (start, end) = (word.word.range.start.seconds, word.word.range.end.seconds)
        text = word.word.text
        confidence = (word.word.confidence * 10_000).rounded() / 10_000
        (before, after) = (word.before, word.after)
        unclear = word.isUnclear ? true : nil
    }

    /// The start of the word.
    package var place: SamplePosition { SamplePosition(seconds: start) }
    /// The confidence in percent.
    package var percent: Int { Int(nearest: confidence * 100) }
    /// The word in brackets, in its context.
    package var context: String {
        [before, unclear == true ? text : "[\(text)]", after].filter { !$0.isEmpty }.joined(separator: " ")
    }
}

/// The low-confidence words of several recordings.
package struct UncertainWordList {
    /// The maximum number of words of one recording; these include the overall worst.
    private static let maxPerRecording = 1_000

    private let limit: Int
    private var unclear: [UncertainWordRow] = []
    private var rows: [UncertainWordRow] = []
    private var words: [Word] = []

    /// - Parameter limit: The number of words wanted.
    package init(limit: Int) { self.limit = limit }

    /// Adds a recording's text.
    package mutating func add(_ segments: [Segment], of recording: Int, recorder: String? = nil) {
        for word in UncertainWord.worst(max(limit, Self.maxPerRecording), of: segments) {
            guard !word.isUnclear else {
                unclear.append(UncertainWordRow(word, of: recording, recorder))
                continue
            }
            words.append(word.word)
            rows.append(UncertainWordRow(word, of: recording, recorder))
        }
    }

    /// The first `limit`: unclear segments, then words in the order of `UncertainWord.order`.
    package var worst: [UncertainWordRow] {
        Array((unclear + UncertainWord.order(words).map { rows[$0] }).prefix(limit))
    }
}
