import Core

/// A low-confidence word with its context, for a person to review. An unclear segment is represented by the word
/// `[unclear]`, and its held-back text is in `after`.
struct UncertainWord: Hashable, Sendable {
    var segment: Int
    var word: Word
    /// Up to four words before it in the segment.
    var before: String
    /// Up to four words after it in the segment.
    var after: String
    var isUnclear = false

    private static let contextWords = 4
    /// Words below this confidence count together if they have the same key.
    private static let groupingConfidence = 0.5
    /// Words of up to this length, such as `the` and `in`, are never counted together.
    private static let maxShortLength = 3

    /// Returns up to `maxCount` words: unclear segments first, then words in the order of `reviewOrder`. Ignores lone
    /// punctuation.
    static func worst(_ maxCount: Int, of segments: [Segment], below threshold: Double = 1) -> [UncertainWord] {
        let unclear = segments.compactMap { segment in
            segment.heldBack.map {
                UncertainWord(
                    segment: segment.id, word: segment.shownWords[0], before: "", after: $0, isUnclear: true)
            }
        }
        let positions = segments.flatMap { segment in segment.words.indices.map { (segment, $0) } }
        let uncertain = positions.filter {
            let word = $0.0.words[$0.1]
            return word.confidence < threshold && !word.key.isEmpty
        }
        let order = reviewOrder(uncertain.map { $0.0.words[$0.1] })
        let worst = order.prefix(max(0, maxCount - unclear.count)).map { position in
            let (segment, index) = uncertain[position]
            let text = { (words: ArraySlice<Word>) in words.map(\.text).joined(separator: " ") }
            return UncertainWord(
                segment: segment.id, word: segment.words[index],
                before: text(segment.words[max(0, index - contextWords)..<index]),
                after: text(segment.words[(index + 1)..<min(segment.words.count, index + 1 + contextWords)]))
        }
        return unclear.prefix(max(0, maxCount)) + worst
    }

    /// Returns the indices of the words in the order in which a person should review them.
    ///
    /// If several occurrences of a word are uncertain, the least certain one represents them all: the answer is
    /// probably the same for each, and a name that is often missed matters most. The other occurrences are sorted by
    /// their own confidence, then by time.
    static func reviewOrder(_ words: [Word]) -> [Int] {
        var leastCertain: [String: Int] = [:]
        var sums: [String: Double] = [:]
        for (index, word) in words.enumerated()
        where word.confidence < groupingConfidence && word.key.count > maxShortLength {
            sums[word.key, default: 0] += 1 - word.confidence
            let earlier = leastCertain[word.key]
            if earlier.map({ word.confidence < words[$0].confidence }) ?? true { leastCertain[word.key] = index }
        }
        let scores = words.enumerated().map { index, word in
            leastCertain[word.key] == index ? sums[word.key] ?? 0 : 1 - word.confidence
        }
        return words.indices.sorted { (scores[$1], $0) < (scores[$0], $1) }
    }
}

/// A low-confidence word and its position, for the command `review`.
package struct UncertainWordRow: Encodable {
    package let recording: Int
    /// Nil unless there are several recorders.
    package let recorder: String?
    private let segment: Int
    private let start: Double
    private let end: Double
    private let text: String
    private let confidence: Double
    private let before: String
    private let after: String
    /// True if the segment is unclear; `after` is then the held-back text. Otherwise nil.
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

    package var position: SamplePosition { SamplePosition(seconds: start) }
    package var percent: Int { Int(nearest: confidence * 100) }
    /// The word in brackets, in its context.
    package var context: String {
        [before, unclear == true ? text : "[\(text)]", after].filter { !$0.isEmpty }.joined(separator: " ")
    }
}

/// The low-confidence words of several recordings.
package struct UncertainWordList {
    /// The number of words kept for each recording, unless `limit` is greater.
    private static let maxPerRecording = 1_000

    private let limit: Int
    private var unclear: [UncertainWordRow] = []
    private var rows: [UncertainWordRow] = []
    private var words: [Word] = []

    /// - Parameter limit: The maximum number of words in the list.
    package init(limit: Int) { self.limit = limit }

    /// Adds a recording's low-confidence words.
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

    /// The first `limit` rows: unclear segments, then words in the order of `UncertainWord.reviewOrder`.
    package var worst: [UncertainWordRow] {
        Array((unclear + UncertainWord.reviewOrder(words).map { rows[$0] }).prefix(limit))
    }
}
