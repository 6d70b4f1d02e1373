import Core

/// The words of a text, numbered, and what of them is shown.
struct NumberedWords {
    struct Entry {
        /// The index of its segment.
        var segment: Int
        /// Its index there.
        var index: Int
        var text: String
        var range: SampleRange
        /// Where what is shown of it stands in `texts`; empty where that is nothing.
        var tokens: Range<Int>
    }

    let segments: [Segment]
    /// The number of each segment's first word, and of the one that would come next.
    private var starts: [Int] = []
    /// In their order.
    private(set) var words: [Entry] = []
    /// What is shown of them, without blanks.
    private(set) var texts: [String] = []
    /// The same, as it is compared.
    private(set) var keys: [String] = []
    /// The numbers of the words that these are of.
    private(set) var tokens: [Int] = []

    init(_ segments: [Segment], _ spoken: SpokenWords) {
        self.segments = segments
        for (place, segment) in segments.enumerated() {
            starts.append(words.count)
            for (index, word) in segment.words.enumerated() {
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

    /// The numbers of a segment's words.
    func numbers(ofSegment place: Int) -> Range<Int> { starts[place]..<starts[place + 1] }

    /// The segment that most of a range lies in; nil where it lies elsewhere.
    func segment(at range: SampleRange) -> Int? {
        var (low, high) = (0, segments.count)
        while low < high {
            let middle = (low + high) / 2
            if segments[middle].range.end <= range.middle { low = middle + 1 } else { high = middle }
        }
        guard low < segments.count, let shared = segments[low].range.intersection(range) else { return nil }
        return shared.count * 2 >= range.count ? low : nil
    }

    /// The segments that a range shares a sample with.
    func segments(at range: SampleRange) -> Range<Int> {
        var (low, high) = (0, segments.count)
        while low < high {
            let middle = (low + high) / 2
            if segments[middle].range.end <= range.start { low = middle + 1 } else { high = middle }
        }
        var end = low
        while end < segments.count, segments[end].range.start < range.end { end += 1 }
        return low..<end
    }

    /// By which words are told apart: neither case nor marks count, but of a word that is nothing else.
    static func key(of text: String) -> String {
        let key = Word.key(of: text)
        return key.isEmpty ? text : key
    }
}
