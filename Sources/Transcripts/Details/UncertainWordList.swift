import Core

/// A doubtful word with its place, as `review` tells it.
package struct UncertainWordRow: Encodable {
    /// The recording's number.
    package let recording: Int
    /// Whose recording it is, where there are several recorders.
    package let recorder: String?
    private let segment: Int
    private let start: Double
    private let end: Double
    private let text: String
    private let confidence: Double
    private let before: String
    private let after: String

    fileprivate init(_ doubt: UncertainWord, of recording: Int, _ recorder: String?) {
        (self.recording, self.recorder) = (recording, recorder)
        segment = doubt.segment
        (start, end) = (doubt.word.range.start.seconds, doubt.word.range.end.seconds)
        text = doubt.word.text
        confidence = (doubt.word.confidence * 10_000).rounded() / 10_000
        (before, after) = (doubt.before, doubt.after)
    }

    /// Where the word begins.
    package var place: SamplePosition { SamplePosition(seconds: start) }
    /// How sure the engine was, in percent.
    package var percent: Int { Int(nearest: confidence * 100) }
    /// The word in brackets, with what stands around it.
    package var context: String {
        [before, "[\(text)]", after].filter { !$0.isEmpty }.joined(separator: " ")
    }
}

/// The doubtful words of several recordings.
package struct UncertainWordList {
    /// Of each recording; among them are those that matter over all recordings.
    private static let mostOfOne = 1_000

    private let limit: Int
    private var rows: [UncertainWordRow] = []
    private var words: [Word] = []

    /// - Parameter limit: how many are wanted.
    package init(limit: Int) { self.limit = limit }

    /// Looks at a recording's text.
    package mutating func add(_ segments: [Segment], of recording: Int, recorder: String? = nil) {
        for doubt in UncertainWord.worst(max(limit, Self.mostOfOne), of: segments) {
            words.append(doubt.word)
            rows.append(UncertainWordRow(doubt, of: recording, recorder))
        }
    }

    /// Those whose answers would teach most, at most as many as are wanted, as `UncertainWord.order` has them.
    package var worst: [UncertainWordRow] { UncertainWord.order(words).prefix(limit).map { rows[$0] } }
}
