import Testing

@testable import Core
@testable import Transcripts

@Suite("Gaps and unclear speech in each format")
struct GapAndUnclearTests {
    /// A pause between two segments, a redaction within one, and a loss at the end.
    static let interruptedTimeline = timeline(
        [segment(1, [word("before", 0, 0.5)]), segment(2, [word("and", 5, 5.5), word("after", 7, 7.5)])],
        gaps: [gap(2, 5, .paused), gap(5.5, 6.5, .redacted), gap(8, 8.05)], seconds: 10)

    @Test("text shows where a recording was paused or redacted, and where sound is missing")
    func gapsInText() throws {
        #expect(
            try TranscriptFormat.text.render(Self.interruptedTimeline) == """
                before
                [gap 3.0 s: paused]
                and
                [gap 1.0 s: struck]
                after
                [gap 50 ms: overrun]

                """)
        var marked = Self.interruptedTimeline
        marked.marks = [1, 5.75, 9].map { Bookmark(SamplePosition(seconds: $0), text: "at \($0)") }
        #expect(
            try TranscriptFormat.text.render(marked) == """
                before
                [bookmark 0:01: at 1.0]
                [gap 3.0 s: paused]
                and
                [gap 1.0 s: struck]
                [bookmark 0:05: at 5.75]
                after
                [gap 50 ms: overrun]
                [bookmark 0:09: at 9.0]

                """)
    }

    @Test("subtitles show gaps", arguments: [(TranscriptFormat.srt, ","), (.vtt, ".")])
    func gapsInSubtitles(format: TranscriptFormat, decimal: String) throws {
        let cues = [
            ("00:00:00.000 --> 00:00:01.000", "before"), ("00:00:02.000 --> 00:00:05.000", "[gap 3.0 s: paused]"),
            ("00:00:05.000 --> 00:00:05.500", "and"), ("00:00:05.500 --> 00:00:06.500", "[gap 1.0 s: struck]"),
            ("00:00:07.000 --> 00:00:08.000", "after"), ("00:00:08.000 --> 00:00:09.000", "[gap 50 ms: overrun]"),
        ]
        let blocks = cues.enumerated().map { index, cue in
            let number = format == .srt ? "\(index + 1)\n" : ""
            return "\(number)\(cue.0.replacing(".", with: decimal))\n\(cue.1)\n"
        }
        let all = blocks.joined(separator: "\n")
        #expect(try format.render(Self.interruptedTimeline) == (format == .srt ? all + "\n" : "WEBVTT\n\n" + all))
    }

    @Test("CSV, Audacity labels, QDA text and Markdown show gaps")
    func gapsElsewhere() throws {
        #expect(
            try TranscriptFormat.csv.render(Self.interruptedTimeline)
                == [
                    "kind,segment,start,end,text,confidence,detail", "segment,1,0,0.5,before,0.9,silence",
                    "word,1,0,0.5,before,0.9,", "gap,,2,5,,,paused", "segment,2,5,7.5,and after,0.9,silence",
                    "word,2,5,5.5,and,0.9,", "word,2,7,7.5,after,0.9,", "gap,,5.5,6.5,,,struck",
                    "gap,,8,8.05,,,overrun", "",
                ].joined(separator: "\r\n"))
        #expect(
            try TranscriptFormat.labels.render(Self.interruptedTimeline) == """
                0\t0.5\tbefore
                2\t5\t[gap 3.0 s: paused]
                5\t7.5\tand after
                5.5\t6.5\t[gap 1.0 s: struck]
                8\t8.05\t[gap 50 ms: overrun]

                """)
        #expect(
            try TranscriptFormat.qda.render(Self.interruptedTimeline) == """
                before #00:00:00-5#

                [gap 3.0 s: paused] and [gap 1.0 s: struck] after #00:00:07-5#

                [gap 50 ms: overrun]

                """)
        #expect(
            try TranscriptFormat.markdown.render(Self.interruptedTimeline) == #"""
                # talk.wav

                0:10

                0:00 before

                *\[gap 3.0 s: paused\]*

                0:05 and

                *\[gap 1.0 s: struck\]*

                0:07 after

                *\[gap 50 ms: overrun\]*

                """#)
    }

    /// Each format's text for a pause, a redaction and a loss, in this order.
    private static let gapTexts: [TranscriptFormat: [String]] = [
        .text: gapLines, .srt: gapLines, .vtt: gapLines, .labels: gapLines, .qda: gapLines, .textgrid: gapLines,
        .eaf: gapLines, .docx: gapLines, .odt: gapLines,
        .markdown: gapLines.map { $0.replacing("[", with: "\\[").replacing("]", with: "\\]") },
        .html: gapLines.map { ">\($0.dropFirst().dropLast())</span>" },
        .csv: ["gap,,2,5,,,paused", "gap,,5.5,6.5,,,struck", "gap,,8,8.05,,,overrun"],
        .json: [
            #"{"cause":"paused","end":5,"start":2}"#, #"{"cause":"struck","end":6.5,"start":5.5}"#,
            #"{"cause":"overrun","end":8.05,"start":8}"#,
        ],
        .jsonl: [
            #"{"cause":"paused","end":5,"start":2,"type":"gap"}"#,
            #"{"cause":"struck","end":6.5,"start":5.5,"type":"gap"}"#,
            #"{"cause":"overrun","end":8.05,"start":8,"type":"gap"}"#,
        ],
    ]
    private static let gapLines = ["[gap 3.0 s: paused]", "[gap 1.0 s: struck]", "[gap 50 ms: overrun]"]

    @Test("every format shows pauses, redactions and losses", arguments: TranscriptFormat.allCases)
    func gapsEverywhere(format: TranscriptFormat) throws {
        let text = try format.render(Self.interruptedTimeline)
        let expected = try #require(Self.gapTexts[format], "no expected text for \(format)")
        var rest = text[...]
        for gap in expected {
            let range = try #require(rest.firstRange(of: gap), "\(format) does not contain \(gap): \(text)")
            rest = rest[range.upperBound...]
        }
    }

    /// A timeline with rejected speech between two words.
    static let unclearTimeline = timeline(
        [
            segment(1, [word("before", 0, 0.5)]), unclearSegment(2, 2, 4.3, "lobster a la newberg"),
            segment(3, at: 6, "after"),
        ],
        seconds: 10)

    /// Each format's text for rejected speech.
    private static let unclearTexts: [TranscriptFormat: String] = [
        .text: "before\n[unclear]\nafter\n",
        .srt: "\n\n2\n00:00:02,000 --> 00:00:04,300\n[unclear]\n\n",
        .vtt: "\n\n00:00:02.000 --> 00:00:04.300\n[unclear]\n\n",
        .csv: "\r\nsegment,2,2,4.3,[unclear],0.0,silence\r\nsegment,3,",
        .labels: "\n2\t4.3\t[unclear]\n",
        .qda: "before #00:00:00-5#\n\n[unclear] #00:00:04-3#\n\nafter ",
        .textgrid: "xmin = 2\n            xmax = 4.3\n            text = \"[unclear]\"",
        .eaf: "<ANNOTATION_VALUE>[unclear]</ANNOTATION_VALUE>",
        .docx: #"<w:t xml:space="preserve">0:02</w:t></w:r><w:r><w:t xml:space="preserve"> </w:t></w:r>"#
            + #"<w:r><w:t xml:space="preserve">[unclear]</w:t></w:r></w:p>"#,
        .odt: #"<text:span text:style-name="Time">0:02</text:span> [unclear]</text:p>"#,
        .markdown: "\n\n0:02 \\[unclear\\]\n\n",
        .html: #"<span class="unclear" data-t="2000">[unclear]</span> "#
            + #"<span class="held" data-t="2000">lobster a la newberg</span></span></p>"#,
        .json: #"{"alternatives":[{"confidence":0,"text":"lobster a la newberg"}],"confidence":0,"end":4.3,"#
            + #""endedBy":"silence","final":true,"id":2,"start":2,"text":"","unclear":true,"words":[]}"#,
        .jsonl: #""text":"","type":"segment","unclear":true,"words":[]}"#,
    ]

    @Test("every format shows rejected speech", arguments: TranscriptFormat.allCases)
    func unclearEverywhere(format: TranscriptFormat) throws {
        let text = try format.render(Self.unclearTimeline)
        let expected = try #require(Self.unclearTexts[format], "no expected text for \(format)")
        #expect(text.ranges(of: expected).count == 1, "\(text)")
        #expect(format == .html || text.ranges(of: "unclear").count == 1, "\(text)")
    }

    @Test("with several speakers, an unclear segment has no speaker")
    func unclearBetweenSpeakers() throws {
        var timeline = Self.unclearTimeline
        timeline.speakers = Speakers(turns: [
            Speakers.Turn(SampleRange(.zero, SamplePosition(seconds: 8)), speaker: 0),
            Speakers.Turn(SampleRange(SamplePosition(seconds: 8), SamplePosition(seconds: 9)), speaker: 1),
        ])
        let markdown = try TranscriptFormat.markdown.render(timeline)
        #expect(markdown.hasSuffix("0:00 **A:** before\n\n0:02 \\[unclear\\]\n\n0:06 **A:** after\n"), "\(markdown)")
        #expect(try TranscriptFormat.text.render(timeline) == "A: before\n[unclear]\nafter\n")
        #expect(
            try TranscriptFormat.qda.render(timeline)
                == "A: before #00:00:00-5#\n\n[unclear] #00:00:04-3#\n\nA: after #00:00:06-5#\n")
    }
}
