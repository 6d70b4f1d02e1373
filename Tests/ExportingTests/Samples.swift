@testable import Core

func word(_ text: String, _ start: Double, _ end: Double, _ confidence: Double = 0.9) -> Word {
    Word(text, SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end)), confidence: confidence)
}

func segment(_ id: Int, _ words: [Word], endedBy: EndReason = .silence) -> Segment {
    let range = SampleRange(words.first?.range.start ?? .zero, words.last?.range.end ?? .zero)
    return Segment(id: id, range: range, words: words, endedBy: endedBy)
}

/// Returns a segment without words, but with a held-back text.
func unclearSegment(_ id: Int, _ start: Double, _ end: Double, _ heldBack: String) -> Segment {
    Segment(
        id: id, range: SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end)), words: [],
        alternatives: [Alternative(text: heldBack, confidence: 0)], endedBy: .silence)
}

/// Returns a segment with the words of `text`, one after another, each `length` seconds long.
func segment(_ id: Int, at start: Double, _ text: String, wordLength length: Double = 0.5) -> Segment {
    let words = text.split(separator: " ").enumerated().map { index, text in
        word(String(text), start + Double(index) * length, start + Double(index + 1) * length)
    }
    return segment(id, words)
}

func timeline(
    _ segments: [Segment] = [], gaps: [Gap] = [], marks: [Bookmark] = [], seconds: Double = 61.2,
    statistics: Statistics? = nil
) -> Timeline {
    Timeline(
        name: "talk.wav", length: SamplePosition(seconds: seconds),
        engine: EngineDescription(name: "pocketsphinx", version: "5.0.1", model: "en-us"), segments: segments,
        gaps: gaps, marks: marks, statistics: statistics)
}

func gap(_ start: Double, _ end: Double, _ cause: Gap.Cause = .overrun) -> Gap {
    Gap(SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end)), cause: cause)
}

/// A timeline with three segments (the second without words), a gap, two bookmarks, and statistics.
let sample: Timeline = {
    var first = segment(1, [word("go", 0.42, 0.71), word("forward", 0.71, 1.3, 0.72)])
    first.alternatives = [Alternative(text: "go for word", confidence: 0.1)]
    let silent = Segment(
        id: 2, range: SampleRange(SamplePosition(seconds: 5), SamplePosition(seconds: 6)), words: [], endedBy: .error)
    let last = segment(3, [word("ten", 12, 12.25, 1.0 / 3), word("meters", 12.25, 12.8)], endedBy: .stop)
    var statistics = Statistics()
    statistics.audioSeconds = 61.2
    statistics.speechSeconds = 2.68
    statistics.cpuSeconds = 12
    statistics.wallSeconds = 0.1 + 0.2
    statistics.sessions = 9
    statistics.seams = 1
    return timeline(
        [first, silent, last], gaps: [gap(8, 10.25)],
        marks: [Bookmark(SamplePosition(seconds: 0.5), text: "say \"here\""), Bookmark(SamplePosition(seconds: 60))],
        statistics: statistics)
}()
