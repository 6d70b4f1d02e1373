import TestKit
import Testing

@testable import Core
@testable import Transcripts

@Suite("Added and moved lines") struct MovedLineTests {
    /// Formats whose lines have times.
    private static let formats: [TranscriptFormat] = [.srt, .vtt, .csv, .textgrid, .eaf, .labels]

    private static let timeline = Timeline(
        name: "000007", length: SamplePosition(seconds: 60),
        engine: EngineDescription(name: "x", version: "", model: ""),
        segments: [
            spoken(1, at: 2, "we went down to the river"), spoken(2, at: 10, "before the light came up there"),
            spoken(3, at: 30, "and the boats were out"),
        ])

    /// Renders the timeline and parses the result.
    private static func parsed(_ format: TranscriptFormat) throws -> EditedTranscript {
        let text = try format.render(timeline, details: RecordingDetails(title: "t"))
        let fileExtension = format == .labels ? "txt" : format.fileExtension
        return try EditedTranscript(text, fileExtension: fileExtension, name: "t")
    }

    private func range(_ start: Double, _ end: Double) -> SampleRange {
        SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end))
    }

    private func lines(_ text: CorrectedText) -> [String] {
        text.lines.map {
            "\($0.segment.id) \($0.segment.range.start.seconds)-\($0.segment.range.end.seconds) \($0.segment.text)"
        }
    }

    /// Checks that segments are in order and contain their words.
    private func check(_ text: CorrectedText) {
        var reached = SamplePosition.zero
        for (index, line) in text.lines.enumerated() {
            #expect(line.segment.id == index + 1 && line.segment.range.start >= reached)
            reached = line.segment.range.end
            var end = line.segment.range.start
            for word in line.segment.words {
                #expect(word.range.start >= end && word.range.end <= reached, "\(line.segment)")
                end = word.range.end
            }
        }
    }

    @Test("times are imported unchanged", arguments: formats)
    func times(format: TranscriptFormat) throws {
        let read = try Self.parsed(format)
        #expect(read.tiers[0].map(\.range) == Self.timeline.segments.map(\.range), "\(read)")
        #expect(read.format == format.rawValue)
    }

    @Test("an added line keeps its times", arguments: formats)
    func addedLine(format: TranscriptFormat) throws {
        var written = try Self.parsed(format)
        written.tiers[0].append(EditedTranscript.Entry("the boats we saw", range(18.5, 20)))
        let text = CorrectedText(written, over: Self.timeline)
        check(text)
        #expect(
            lines(text) == [
                "1 2.0-8.0 we went down to the river", "2 10.0-16.0 before the light came up there",
                "3 18.5-20.0 the boats we saw", "4 30.0-35.0 and the boats were out",
            ])
        #expect(text.changedLineCount == 1 && text.isSimilar)
        // The model determines the times of the words, and the person the start and end of the line.
        var line = text.lines[2]
        line.apply(times: (0..<4).map { range(18.75 + Double($0) * 0.25, 19 + Double($0) * 0.25) })
        #expect(line.segment.words.map(\.range.start.seconds) == [18.5, 19, 19.25, 19.5])
        #expect(line.segment.words.last?.range.end == line.segment.range.end)
        #expect(WordChange.changes(from: Self.timeline.segments, to: text.lines.map(\.segment)).count == 1)
    }

    @Test("a line added in a pause within another line splits that line", arguments: formats)
    func lineInPause(format: TranscriptFormat) throws {
        var timeline = Self.timeline
        timeline.segments[1].words.removeSubrange(2...3)
        var written = try EditedTranscript(
            format.render(timeline, details: RecordingDetails(title: "t")),
            fileExtension: format == .labels ? "txt" : format.fileExtension, name: "t")
        written.tiers[0].append(EditedTranscript.Entry("yes", range(12.5, 13.5)))
        let text = CorrectedText(written, over: timeline)
        check(text)
        #expect(
            lines(text)[1...3] == ["2 10.0-12.5 before the", "3 12.5-13.5 yes", "4 13.5-16.0 up there"],
            "\(lines(text))")
    }

    @Test("a moved line keeps its new times, and its words keep their order", arguments: formats)
    func movedLine(format: TranscriptFormat) throws {
        var written = try Self.parsed(format)
        written.tiers[0][1].range = range(20, 23)
        let text = CorrectedText(written, over: Self.timeline)
        check(text)
        #expect(lines(text)[1] == "2 20.0-23.0 before the light came up there" && text.lines.count == 3)
        #expect(text.lines[1].segment.words.map(\.range.start.seconds) == [20, 20.5, 21, 21.5, 22, 22.5])
        #expect(text.lines[1].isMoved && text.lines[1].changes.isEmpty && text.changedLineCount == 1)
        #expect(text.lines[0].segment == Self.timeline.segments[0])
    }

    @Test("a corrected line that was moved past another one stays at its new time", arguments: formats)
    func movedPastAnother(format: TranscriptFormat) throws {
        var written = try Self.parsed(format)
        written.tiers[0][0] = EditedTranscript.Entry("we went down to the lake", range(40, 43))
        let text = CorrectedText(written, over: Self.timeline)
        check(text)
        #expect(text.lines.last.map { $0.segment.text } == "we went down to the lake")
        #expect(text.lines.last?.segment.range == range(40, 43))
        #expect(text.lines.flatMap { $0.segment.words }.count == 17, "\(lines(text))")
    }

    @Test("a line's new end is kept, and its words keep their times", arguments: formats)
    func newEnd(format: TranscriptFormat) throws {
        var written = try Self.parsed(format)
        written.tiers[0][1].range = range(10, 17.5)
        let text = CorrectedText(written, over: Self.timeline)
        check(text)
        #expect(text.lines[1].segment.range == range(10, 17.5))
        #expect(text.lines[1].segment.words[1].range == Self.timeline.segments[1].words[1].range)
    }

    @Test("completely rewritten lines keep their times", arguments: formats)
    func rewrittenLines(format: TranscriptFormat) throws {
        var written = try Self.parsed(format)
        for index in written.tiers[0].indices { written.tiers[0][index].text = "new\(index) words are here" }
        written.tiers.removeSubrange(1...)
        let text = CorrectedText(written, over: Self.timeline)
        check(text)
        #expect(!text.isSimilar && text.lines.map(\.segment.range) == Self.timeline.segments.map(\.range))
        #expect(text.lines.map(\.segment.text) == (0...2).map { "new\($0) words are here" })
    }

    @Test("a recording without a transcript gets the file's text", arguments: formats + [.text])
    func withoutTranscript(format: TranscriptFormat) throws {
        var empty = Self.timeline
        empty.segments = []
        let written =
            try format == .text
            ? EditedTranscript("we went\ndown to the river", fileExtension: "txt", name: "t") : Self.parsed(format)
        let text = CorrectedText(written, over: empty)
        check(text)
        if format == .text {
            #expect(text.lines.map(\.segment.text) == ["we went", "down to the river"])
            #expect(text.lines.last?.segment.range.end == empty.length)
        } else {
            #expect(text.lines.map(\.segment.text) == Self.timeline.segments.map(\.text))
            #expect(text.lines.map(\.segment.range) == Self.timeline.segments.map(\.range))
        }
        // Speech without recognized words.
        empty.segments = Self.timeline.segments
        for index in empty.segments.indices { empty.segments[index].words = [] }
        let distributed = CorrectedText(written, over: empty)
        check(distributed)
        let words = text.lines.flatMap(\.segment.words).map(\.text)
        #expect(distributed.lines.flatMap(\.segment.words).map(\.text) == words)
        #expect(distributed.lines.map(\.segment.range) == empty.segments.map(\.range))
    }

    @Test("split or joined cues change no segment", arguments: [TranscriptFormat.srt, .vtt])
    func splitOrJoinedCues(format: TranscriptFormat) throws {
        var written = try Self.parsed(format)
        written.tiers[0][0...1] = [
            EditedTranscript.Entry("we went down", range(2, 5)),
            EditedTranscript.Entry("to the river before", range(5, 11)),
            EditedTranscript.Entry("the light came up there", range(11, 16)),
        ]
        #expect(CorrectedText(written, over: Self.timeline).lines.map(\.segment) == Self.timeline.segments)
        written.tiers[0] = [
            EditedTranscript.Entry(Self.timeline.segments.map(\.text).joined(separator: " "), range(2, 35))
        ]
        #expect(CorrectedText(written, over: Self.timeline).lines.map(\.segment) == Self.timeline.segments)
    }

    @Test(
        "a word that was moved on its tier keeps its new times",
        arguments: [TranscriptFormat.textgrid, .eaf, .csv])
    func movedWord(format: TranscriptFormat) throws {
        var written = try Self.parsed(format)
        written.tiers[1][1].range = range(3.25, 3.75)
        let text = CorrectedText(written, over: Self.timeline)
        check(text)
        #expect(text.lines[0].segment.words[1].range == range(3.25, 3.75) && text.changedLineCount == 1)
        #expect(text.lines[0].segment.words[2].range == Self.timeline.segments[0].words[2].range)
    }

    @Test("lines at any times give a transcript with lines and words in order", arguments: formats)
    func anyLines(format: TranscriptFormat) throws {
        var random = SeededGenerator()
        let seed = random.seed
        for round in 1...200 {
            var written = try Self.parsed(format)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let start = Double.random(in: -5...70, using: &random)
                let newRange = range(start, start + Double.random(in: 0...30, using: &random))
                let index = written.tiers[0].indices.randomElement(using: &random) ?? 0
                switch Int.random(in: 0...3, using: &random) {
                case 0: written.tiers[0][index].range = newRange
                case 1: written.tiers[0].append(EditedTranscript.Entry("a new line", newRange))
                case 2: written.tiers[0][index] = EditedTranscript.Entry("else", newRange)
                default: if written.tiers[0].count > 1 { written.tiers[0].remove(at: index) }
                }
            }
            let text = CorrectedText(written, over: Self.timeline)
            check(text)
            let expected = written.tiers[0].flatMap { $0.text.split(separator: " ").map(String.init) }.sorted()
            let words = text.lines.flatMap { $0.segment.words.map(\.text) }.sorted()
            #expect(words == expected, "seed \(seed), round \(round), \(written), \(lines(text))")
        }
    }
}
