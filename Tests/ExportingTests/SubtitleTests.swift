import Testing

@testable import Core
@testable import Transcripts

@Suite("Subtitles")
struct SubtitleTests {
    private func cues(_ timeline: Timeline, _ format: TranscriptFormat = .srt) throws -> [Subtitles.Cue] {
        try Subtitles(format.render(timeline)).cues
    }

    @Test("a single word is shown for a second if possible, but not beyond the end of the recording")
    func oneWord() throws {
        let word = [segment(1, [word("yes", 1, 1.1)])]
        #expect(try cues(timeline(word)) == [.init(start: 1_000, end: 2_000, lines: ["yes"])])
        #expect(try cues(timeline(word, seconds: 1.5)) == [.init(start: 1_000, end: 1_500, lines: ["yes"])])
        #expect(try cues(timeline(word, seconds: 0)) == [.init(start: 1_000, end: 1_100, lines: ["yes"])])
    }

    @Test("hours may exceed 99")
    func hours() throws {
        let late = timeline([segment(1, [word("late", 360_000, 360_001.5)])], seconds: 400_000)
        #expect(try TranscriptFormat.srt.render(late) == "1\n100:00:00,000 --> 100:00:01,500\nlate\n\n")
        #expect(try TranscriptFormat.vtt.render(late) == "WEBVTT\n\n100:00:00.000 --> 100:00:01.500\nlate\n")
    }

    @Test("a long segment is split at word times into cues of one or two balanced lines")
    func longSegment() throws {
        let text = Array(repeating: "ten", count: 30).joined(separator: " ")
        let cues = try cues(timeline([segment(1, at: 10, text, wordLength: 0.3)]))
        let even = Array(repeating: "ten", count: 10).joined(separator: " ")
        let rest = Array(repeating: "ten", count: 5).joined(separator: " ")
        #expect(
            cues == [
                .init(start: 10_000, end: 16_000, lines: [even, even]),
                .init(start: 16_000, end: 19_000, lines: [rest + " " + rest]),
            ])
    }

    @Test("slow speech is cut after at most seven seconds, and so is a very long word")
    func slow() throws {
        let slow = try cues(timeline([segment(1, at: 0, "one two three four", wordLength: 3)]))
        #expect(
            slow == [
                .init(start: 0, end: 6_000, lines: ["one two"]),
                .init(start: 6_000, end: 12_000, lines: ["three four"]),
            ])
        let longWord = try cues(timeline([segment(1, [word("aaah", 0, 20)])]))
        #expect(longWord == [.init(start: 0, end: 7_000, lines: ["aaah"])])
    }

    @Test("words with times out of order keep their order")
    func outOfOrder() throws {
        let segments = [
            segment(1, [word("one", 5, 6)]), segment(2, [word("two", 1, 2)]), segment(3, [word("three", 7, 8)]),
        ]
        #expect(
            try cues(timeline(segments)) == [
                .init(start: 5_000, end: 5_001, lines: ["one"]), .init(start: 5_001, end: 6_001, lines: ["two"]),
                .init(start: 7_000, end: 8_000, lines: ["three"]),
            ])
    }

    @Test("a gap in a segment is shown between its words")
    func gapInside() throws {
        let words = [word("before", 1, 2), word("after", 4, 5.5)]
        #expect(
            try cues(timeline([segment(1, words)], gaps: [gap(2, 4, .microphone)])) == [
                .init(start: 1_000, end: 2_000, lines: ["before"]),
                .init(start: 2_000, end: 4_000, lines: ["[gap 2.0 s: microphone]"]),
                .init(start: 4_000, end: 5_500, lines: ["after"]),
            ])
    }

    @Test(
        "a gap's length has a suitable unit",
        arguments: [
            (0.01, "10 ms"), (0.0996, "0.1 s"), (0.1, "0.1 s"), (2.26, "2.3 s"), (9.96, "10.0 s"), (600, "600.0 s"),
        ])
    func gapLength(seconds: Double, expected: String) throws {
        #expect(try cues(timeline(gaps: [gap(1, 1 + seconds)])).map(\.lines) == [["[gap \(expected): overrun]"]])
    }

    @Test(
        "words that contain the arrow of cue times, -->, are escaped",
        arguments: ["-->", "--->", "-->\u{301}", "a-->b", "-- >", "-->-->"])
    func arrow(text: String) throws {
        let odd = timeline([segment(1, [word(text, 0, 1)])], marks: [Bookmark(SamplePosition(seconds: 3), text: text)])
        for format in [TranscriptFormat.srt, .vtt] {
            let lines = try format.render(odd).unicodeScalars.split(separator: "\n").map { Array($0) }
            let arrows = lines.filter { line in line.indices.contains { line[$0...].starts(with: "-->".unicodeScalars) }
            }
            // The arrows in the times of two cues: the word's and the mark's.
            #expect(arrows.count == 2, "\(format)")
        }
    }

    @Test("WebVTT escapes markup, and SubRip breaks it up with a zero-width character")
    func escapes() throws {
        let odd = timeline([segment(1, [word("<b>a&amp;b", 0, 1)])])
        #expect(try cues(odd, .vtt).map(\.lines) == [["&lt;b&gt;a&amp;amp;b"]])
        #expect(try cues(odd, .srt).map(\.lines) == [["<\u{2060}b>a&amp;b"]])
    }

    @Test(
        "ffmpeg shows words in SubRip that look like markup",
        arguments: ["<laughs>", "<i>x</i>", "{\\an8}y", "a\\Nb", "-->"])
    func markupInFFmpeg(text: String) throws {
        let odd = timeline([segment(1, [word(text, 0, 1)])])
        let cue = try #require(try Subtitles.throughFFmpeg(TranscriptFormat.srt.render(odd), format: "srt").cues.first)
        #expect(cue.lines.map { $0.replacing("\u{2060}", with: "") } == [text])
    }

    @Test(
        "characters that would end a line or a cue become spaces",
        arguments: ["two\n\nlines", "two\r\nlines", " two \0 lines ", "two\u{2029}lines", "two\u{A0}\u{B}lines"])
    func lineBreaks(text: String) throws {
        let odd = timeline([segment(1, [word(text, 0, 1)])], marks: [Bookmark(SamplePosition(seconds: 3), text: text)])
        let mark = "[bookmark 0:03: two lines]"
        #expect(try cues(odd, .srt).map(\.lines) == [["two lines"], [mark]])
        #expect(try cues(odd, .vtt).map(\.lines) == [["two lines"], [mark]])
        #expect(try TranscriptFormat.vtt.render(odd).contains("\n\nNOTE mark 00:00:03.000 two lines\n\n"))
        #expect(try TranscriptFormat.text.render(odd) == "two lines\n[bookmark 0:03: two lines]\n")
    }

    @Test(
        "a bookmark with text is shown above the cue at its time or up to a second later, otherwise in its own cue",
        arguments: [TranscriptFormat.srt, .vtt])
    func marks(format: TranscriptFormat) throws {
        let marks = [(1.5, "first"), (1.5, "second"), (3.5, "soon"), (7, "alone"), (8, " "), (20, "late")].map {
            Bookmark(SamplePosition(seconds: $0.0), text: $0.1)
        }
        let spoken = [segment(1, [word("one", 1, 2)]), segment(2, [word("two", 4, 5.5)])]
        #expect(
            try cues(timeline(spoken, marks: marks, seconds: 30), format) == [
                .init(start: 1_000, end: 2_000, lines: ["[bookmark 0:01: first]", "[bookmark 0:01: second]", "one"]),
                .init(start: 4_000, end: 5_500, lines: ["[bookmark 0:03: soon]", "two"]),
                .init(start: 7_000, end: 9_000, lines: ["[bookmark 0:07: alone]"]),
                .init(start: 20_000, end: 22_000, lines: ["[bookmark 0:20: late]"]),
            ])
    }

    @Test("a long bookmark has two lines and ends in an ellipsis")
    func longMark() throws {
        let mark = Bookmark(SamplePosition(seconds: 1), text: String(repeating: "many words ", count: 30))
        let cues = try cues(timeline(marks: [mark]))
        #expect(cues.count == 1 && cues[0].lines.count == 2 && cues[0].lines.allSatisfy { $0.count <= 42 })
        #expect(cues[0].lines[0].hasPrefix("[bookmark 0:01: many words") && cues[0].lines[1].hasSuffix(" …]"))
    }

    @Test("a blank word adds neither a cue nor a line")
    func blankWords() throws {
        let odd = timeline([segment(1, [word("\n", 0, 1), word("", 1, 2)])])
        #expect(try cues(odd).isEmpty)
        #expect(try TranscriptFormat.text.render(odd) == "")
    }

    @Test("a word longer than a line has its own line")
    func longWord() throws {
        let long = String(repeating: "x", count: 60)
        let cues = try cues(timeline([segment(1, at: 0, "a \(long) b")]))
        #expect(cues.map(\.lines) == [["a"], [long], ["b"]])
    }

    @Test("ffmpeg reads all cues with exact times", arguments: [TranscriptFormat.srt, .vtt])
    func ffmpeg(format: TranscriptFormat) throws {
        var timeline = sample
        let odd = ["12", "👩‍🚀 & <i> \u{202E}bidi", "-->", "\"quoted\"", "NOTE", "1\n2"]
        timeline.segments += odd.enumerated().map { index, text in
            segment(10 + index, [word(text, 20 + Double(index) * 2, 21.5 + Double(index) * 2)])
        }
        timeline.segments.append(segment(90, at: 400, Array(repeating: "many words", count: 60).joined(separator: " ")))
        timeline.segments.append(segment(99, [word("late", 360_000.5, 360_002)]))
        timeline.length = SamplePosition(seconds: 360_003)
        let written = try TranscriptFormat(rawValue: format.rawValue)?.render(timeline) ?? ""
        let ours = try Subtitles(written).cues
        let theirs = try Subtitles.throughFFmpeg(written, format: format.rawValue).cues
        #expect(ours.count > 12)
        #expect(theirs.map(\.start) == ours.map(\.start))
        #expect(theirs.map(\.end) == ours.map(\.end))
    }
}
