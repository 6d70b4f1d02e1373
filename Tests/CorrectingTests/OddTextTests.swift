import TestKit
import Testing

@testable import Core
@testable import Transcripts

@Suite("Unusual texts, exported and imported") struct OddTextTests {
    private static let formats: [TranscriptFormat] = [.text, .qda, .srt, .vtt, .csv, .textgrid, .eaf, .labels]

    private static let unusualWords = [
        "-->", "--->", "a-->b", "<i>", "</i>", "<laughs>", "<font", "color=\"red\">", "{\\an8}", "\\N", "&lt;",
        "&amp;amp;", "&",
        "#00:00:01-0#", "(3", "s)", "(12", "[no", "words]", "[gap", "1.5", "s:", "disk]", "[bookmark", "here]",
        "A:",
        "B:", "Ann:", "//", "//there//", "=1+1", "+5", "-", "'=x", "'tis", "@you", "＝1", "\"say\"", "a,b", "semi;colon",
        "tab\there", "two words", "line\nbreak", "e\u{301}", "\u{301}", "\u{300}\u{301}x", "👩‍🚀", "שלום", "\u{202E}abc",
        "\u{2060}",
        "x\u{0}y", "\u{FFFE}", "NOTE", "WEBVTT", "12", "kind", "00:00:01,000", "]]>", "<!--", "mark:", "mark",
        "\u{FEFF}x", "'",
        "…", "\u{85}", "<v Ann>", "…]", "[not", "read]",
    ]

    /// Returns a timeline with words that are unusual alone or in sequence, and a unique word in each segment.
    private static func timeline(_ random: inout SeededGenerator) -> Timeline {
        var segments: [Segment] = []
        var start = 0.0
        for id in 1...Int.random(in: 1...4, using: &random) {
            var texts = (0..<Int.random(in: 0...9, using: &random)).map { _ in
                Bool.random(using: &random) ? unusualWords.randomElement(using: &random) ?? "" : word(&random)
            }
            // A file that shares no word with the original would replace all of it, even words that a format cannot
            // contain. So each segment has words that every format can contain.
            texts.insert("kept", at: Int.random(in: 0...texts.count, using: &random))
            texts.insert("unlike\(id)", at: Int.random(in: 0...texts.count, using: &random))
            let words = texts.enumerated().map { index, text in
                let range = SampleRange(
                    SamplePosition(seconds: start + Double(index)), SamplePosition(seconds: start + Double(index) + 0.9)
                )
                return Word(text, range, confidence: 0.5)
            }
            let end = SamplePosition(seconds: start + Double(words.count))
            segments.append(
                Segment(
                    id: id, range: SampleRange(SamplePosition(seconds: start), end), words: words, endedBy: .silence))
            start += Double(words.count) + 2
        }
        var timeline = Timeline(
            name: "000007", length: SamplePosition(seconds: start + 5),
            engine: EngineDescription(name: "x", version: "", model: ""), segments: segments)
        let gap = SamplePosition(seconds: start)
        timeline.gaps = [Gap(SampleRange(gap, gap + 24_000), cause: .disk)]
        timeline.marks = (0..<Int.random(in: 0...3, using: &random)).map { index in
            let text = (0..<3).map { _ in unusualWords.randomElement(using: &random) ?? "" }.joined(separator: " ")
            return Bookmark(SamplePosition(seconds: Double(index) * 3), text: text)
        }
        if Bool.random(using: &random) {
            let middle = SamplePosition(seconds: start / 2)
            timeline.speakers = Speakers(turns: [
                Speakers.Turn(SampleRange(.zero, middle + 8_000), speaker: 0),
                Speakers.Turn(SampleRange(middle, timeline.length), speaker: 1),
            ])
            timeline.annotations = Annotations()
            timeline.annotations?.speakers = ["A": "Ann", "B": unusualWords.randomElement(using: &random) ?? ""]
        }
        return timeline
    }

    /// Returns a word of one to four random scalars.
    private static func word(_ random: inout SeededGenerator) -> String {
        var word = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let ranges: [ClosedRange<UInt32>] = [
                0x21...0x7E, 0x21...0x7E, 0xA1...0x36F, 0x2000...0x2070, 0x1F300...0x1F6FF,
            ]
            let value = UInt32.random(in: ranges.randomElement(using: &random) ?? 0x21...0x7E, using: &random)
            if let scalar = Unicode.Scalar(value) { word.append(scalar) }
        }
        return String(word)
    }

    @Test("an unedited file changes nothing, and an edited word changes only itself", arguments: formats)
    func roundTrip(format: TranscriptFormat) throws {
        var random = SeededGenerator()
        let seed = random.seed
        for round in 1...150 {
            let timeline = Self.timeline(&random)
            let comment = Comment(rawValue: "\(format), seed \(seed), round \(round)")
            let text = try format.render(timeline, details: RecordingDetails(title: "t"))
            let fileExtension = format.fileExtension.hasSuffix("txt") ? "txt" : format.fileExtension
            let read = { (text: String) in try EditedTranscript(text, fileExtension: fileExtension, name: "t") }
            #expect(try read(text).changes(in: timeline) == [:], comment)
            // Other programs may change the line endings.
            #expect(try read(text.replacing("\n", with: "\r\n")).changes(in: timeline) == [:], comment)
            let id = timeline.segments.count
            let edited = try read(text.replacing("unlike\(id)", with: "Corrected")).changes(in: timeline)
            let expected = timeline.segments[id - 1].words.map { $0.text == "unlike\(id)" ? "Corrected" : $0.text }
            #expect(edited == [id: expected], comment)
        }
    }

    @Test(
        "a copy with earlier speakers' names and bookmarks changes nothing",
        arguments: formats)
    func olderCopy(format: TranscriptFormat) throws {
        var random = SeededGenerator(seed: 7)
        for _ in 1...40 {
            var timeline = Self.timeline(&random)
            timeline.segments = timeline.segments.map { segment in
                spoken(segment.id, at: segment.range.start.seconds, "we went unlike\(segment.id) by boat")
            }
            timeline.marks = [Bookmark(SamplePosition(seconds: 2), text: "the first one"), Bookmark(.zero)]
            let text = try format.render(timeline, details: RecordingDetails(title: "t"))
            let fileExtension = format.fileExtension.hasSuffix("txt") ? "txt" : format.fileExtension
            if timeline.speakers != nil { timeline.annotations?.speakers = ["A": "Awa", "B": "Bo"] }
            timeline.marks = [Bookmark(SamplePosition(seconds: 1), text: "another one")]
            let isNamed = timeline.speakers != nil && [.text, .qda, .srt].contains(format)
            // Removed names cannot be distinguished from words.
            guard !isNamed else { continue }
            let changes = try EditedTranscript(text, fileExtension: fileExtension, name: "t").changes(in: timeline)
            #expect(changes == [:], "\(text)")
        }
    }

    @Test("a word that looks like a name stays a word", arguments: [TranscriptFormat.text, .qda, .srt])
    func wordsLikeNames(format: TranscriptFormat) throws {
        var timeline = EditedTranscriptTests.timeline
        timeline.segments = [
            spoken(1, at: 1, "we called Ann>"), spoken(2, at: 20, "Ann: we went"), spoken(3, at: 40, "A: there"),
        ]
        timeline.speakers = Speakers(turns: [
            Speakers.Turn(SampleRange(.zero, SamplePosition(seconds: 50)), speaker: 0),
            Speakers.Turn(SampleRange(SamplePosition(seconds: 50), SamplePosition(seconds: 60)), speaker: 1),
        ])
        timeline.annotations = Annotations()
        timeline.annotations?.speakers = ["A": "Ann"]
        let text = try format.render(timeline, details: RecordingDetails(title: "t"))
        let fileExtension = format == .srt ? "srt" : "txt"
        let changes = { (text: String) in
            try EditedTranscript(text, fileExtension: fileExtension, name: "t").changes(in: timeline)
        }
        #expect(try changes(text) == [:], "\(text)")
        #expect(try changes(text.replacing("went", with: "walked")) == [2: ["Ann:", "we", "walked"]], "\(text)")
        #expect(try changes(text.replacing("there", with: "here")) == [3: ["A:", "here"]], "\(text)")
    }

    @Test("a bookmark that looks like a time stamp is not imported as text", arguments: [TranscriptFormat.text, .qda])
    func bookmarkWithTimeStamp(format: TranscriptFormat) throws {
        var timeline = EditedTranscriptTests.timeline
        timeline.segments = [spoken(1, at: 1, "we met here"), spoken(2, at: 20, "we went")]
        timeline.marks = [Bookmark(SamplePosition(seconds: 2), text: "#00:00:01-0# [old] here")]
        timeline.gaps = []
        let text = try format.render(timeline, details: RecordingDetails(title: "t"))
        let edited = try EditedTranscript(text.replacing("went", with: "walked"), fileExtension: "txt", name: "t")
        #expect(edited.changes(in: timeline) == [2: ["we", "walked"]], "\(text)")
    }

    @Test("text that players treat as markup is not imported, but other text is")
    func markup() throws {
        let text = """
            1
            00:00:01,000 --> 00:00:02,000
            {\\an8}<i>we</i> <font color="red">went</font> <b>down</b> {ok} <3 <laughs>
            2
            00:00:03,000 --> 00:00:04,500
            a < b
            """
        let read = try EditedTranscript(text, fileExtension: "srt", name: "t").tiers[0]
        #expect(read.map(\.text) == ["we went down {ok} <3 <laughs>", "a < b"])
        #expect(read.map(\.range?.start.seconds) == [1, 3] && read.map(\.range?.end.seconds) == [2, 4.5])
        let web =
            "WEBVTT\n\nSTYLE\n::cue {}\n\n01:00.000 --> 01:02.500 align:start\n<v Ann><c.loud>we</c> &lt;i&gt; <00:19.000>went"
        let cue = try EditedTranscript(web, fileExtension: "vtt", name: "t").tiers[0]
        #expect(cue.map(\.text) == ["we <i> went"] && cue[0].range?.start.seconds == 60)
    }

    @Test("SubRip contains nothing that players treat as markup or times")
    func subRip() throws {
        var timeline = EditedTranscriptTests.timeline
        timeline.segments = [spoken(1, at: 1, "<laughs> {\\an8} --> <i>x</i> \\N"), spoken(2, at: 20, "we went")]
        let text = try TranscriptFormat.srt.render(timeline)
        for sign in ["<l", "{\\", "<i", "\\N"] { #expect(!text.contains(sign), "\(text)") }
        #expect(text.components("-->") == 3 + 1 && text.contains("laughs>"), "\(text)")
    }

    @Test("no field in a table starts like a formula")
    func formulas() throws {
        var timeline = EditedTranscriptTests.timeline
        timeline.segments = [spoken(1, at: 1, "=1+1 went"), spoken(2, at: 20, "@SUM(A1) '=x 'tis")]
        timeline.marks = [Bookmark(.zero, text: "\t-2+3 x")]
        timeline.speakers = Speakers(turns: [
            Speakers.Turn(SampleRange(.zero, SamplePosition(seconds: 10)), speaker: 0),
            Speakers.Turn(SampleRange(SamplePosition(seconds: 10), SamplePosition(seconds: 60)), speaker: 1),
        ])
        timeline.annotations = Annotations()
        timeline.annotations?.speakers = ["A": "+Ann", "B": "＝Bo"]
        let text = try TranscriptFormat.csv.render(timeline)
        for field in text.split(whereSeparator: { ",\r\n\"".contains($0) }) {
            #expect(!"=+-@\t＝".contains(field.first ?? "x"), "\(field)")
        }
        #expect(text.contains(",''=x,") && text.contains(",'tis,"))
        let read = try EditedTranscript(text, fileExtension: "csv", name: "t")
        #expect(read.tiers[1].map(\.text) == ["=1+1", "went", "@SUM(A1)", "'=x", "'tis"])
    }
}

extension String {
    /// Returns the number of parts into which a separator splits the string.
    fileprivate func components(_ separator: String) -> Int {
        split(separator: separator, omittingEmptySubsequences: false).count
    }
}
