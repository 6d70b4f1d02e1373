import Core

/// The numbered words of a text, and their tokens in exports. An unclear segment has the word `[unclear]`.
struct NumberedWords {
    struct Entry {
        var segment: Int
        /// Its index in the segment.
        var index: Int
        var text: String
        var range: SampleRange
        /// The range of its tokens in `texts`; may be empty.
        var tokens: Range<Int>
    }

    let segments: [Segment]
    /// The number of each segment's first word, then the number of words.
    private var starts: [Int] = []
    private(set) var words: [Entry] = []
    /// The tokens, without spaces.
    private(set) var texts: [String] = []
    /// The tokens' keys for comparison.
    private(set) var keys: [String] = []
    /// The number of each token's word.
    private(set) var tokens: [Int] = []

    init(_ segments: [Segment], _ spoken: SpokenWords) {
        self.segments = segments
        for (place, segment) in segments.enumerated() {
            starts.append(words.count)
            for (index, word) in segment.shownWords.enumerated() {
                let shown = spoken.tokens(ofWord: word.text)
                let start = texts.count
                texts += shown
                keys += shown.map { Self.key(of: $0) }
                tokens += shown.map { _ in words.count }
                words.append(
                    Entry(
                        segment: place, index: index, text: word.text, range: word.range, tokens: start..<texts.count))
            }
        }
        starts.append(words.count)
    }

    /// Returns a word by its number; nil if its segment is unclear.
    func word(_ number: Int) -> Word? {
        let segment = segments[words[number].segment]
        return segment.words.indices.contains(words[number].index) ? segment.words[words[number].index] : nil
    }

    func numbers(ofSegment place: Int) -> Range<Int> { starts[place]..<starts[place + 1] }

    /// Returns the segment that contains most of a range; nil if there is none.
    func segment(at range: SampleRange) -> Int? {
        let low = segments.indices.partitionPoint { segments[$0].range.end > range.middle }
        guard low < segments.count, let shared = segments[low].range.intersection(range) else { return nil }
        return shared.count * 2 >= range.count ? low : nil
    }

    /// Returns the segments that a range overlaps.
    func segments(at range: SampleRange) -> Range<Int> {
        let low = segments.indices.partitionPoint { segments[$0].range.end > range.start }
        var end = low
        while end < segments.count, segments[end].range.start < range.end { end += 1 }
        return low..<end
    }

    /// Compares words without case and punctuation, except lone punctuation.
    static func key(of text: String) -> String {
        let key = Word.key(of: text)
        return key.isEmpty ? text : key
    }
}
