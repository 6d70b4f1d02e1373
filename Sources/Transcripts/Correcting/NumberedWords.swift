import Core

/// A transcript's words, numbered from 0, and their tokens in exports. An unclear segment has the word `[unclear]`.
struct NumberedWords {
    struct Entry {
        /// The index of the segment.
        var segment: Int
        /// The word's index in the segment.
        var index: Int
        var text: String
        var range: SampleRange
        /// The range of the word's tokens in `tokenTexts`; may be empty.
        var tokens: Range<Int>
    }

    let segments: [Segment]
    /// The number of each segment's first word, followed by the total number of words.
    private var firstWords: [Int] = []
    private(set) var words: [Entry] = []
    private(set) var tokenTexts: [String] = []
    private(set) var tokenKeys: [String] = []
    /// The number of each token's word.
    private(set) var wordNumbers: [Int] = []

    init(_ segments: [Segment], _ spoken: SpokenWords) {
        self.segments = segments
        for (segmentIndex, segment) in segments.enumerated() {
            firstWords.append(words.count)
            for (index, word) in segment.shownWords.enumerated() {
                let wordTokens = spoken.tokens(ofWord: word.text)
                let start = tokenTexts.count
                tokenTexts += wordTokens
                tokenKeys += wordTokens.map { Self.key(of: $0) }
                wordNumbers += wordTokens.map { _ in words.count }
                words.append(
                    Entry(
                        segment: segmentIndex, index: index, text: word.text, range: word.range,
                        tokens: start..<tokenTexts.count))
            }
        }
        firstWords.append(words.count)
    }

    /// Returns nil if the word's segment is unclear.
    func word(_ number: Int) -> Word? {
        let segment = segments[words[number].segment]
        return segment.words.indices.contains(words[number].index) ? segment.words[words[number].index] : nil
    }

    func numbers(ofSegment index: Int) -> Range<Int> { firstWords[index]..<firstWords[index + 1] }

    /// Returns the index of the segment that contains at least half of a range; nil if there is none.
    func segment(at range: SampleRange) -> Int? {
        let low = segments.indices.partitionPoint { segments[$0].range.end > range.middle }
        guard low < segments.count, let shared = segments[low].range.intersection(range) else { return nil }
        return shared.count * 2 >= range.count ? low : nil
    }

    /// Returns the indices of the segments that a range overlaps.
    func segments(at range: SampleRange) -> Range<Int> {
        let low = segments.indices.partitionPoint { segments[$0].range.end > range.start }
        var end = low
        while end < segments.count, segments[end].range.start < range.end { end += 1 }
        return low..<end
    }

    /// Returns a key that ignores case and punctuation. The key of lone punctuation is the text itself.
    static func key(of text: String) -> String {
        let key = Word.key(of: text)
        return key.isEmpty ? text : key
    }
}
