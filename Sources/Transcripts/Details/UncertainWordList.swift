import Core

/// A low-confidence word and its position, for `review`.
package struct UncertainWordRow: Encodable {
    /// The recording's number.
    package let recording: Int
    /// The recorder's name, if there are several.
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
