import TestKit
import Testing

@testable import Core
@testable import Transcripts

@Suite("Transcripts edited in other programs") struct EditedTranscriptTests {
    private static let identity = RecordingIdentity(
        recording: 7, pass: 3, sound: String(repeating: "0123456789abcdef", count: 4))

    /// A timeline with a gap, a bookmark within a segment, a segment without words, and characters that formats escape.
    static let timeline = Timeline(
        name: "000007", length: SamplePosition(seconds: 90),
        engine: EngineDescription(name: "pocketsphinx", version: "", model: ""),
        segments: [
            spoken(1, at: 1, "we went down to the river before the light came up and the boats were out"),
            spoken(2, at: 20, "he said \"remember\" this & <that> again; and again, my friend"),
            Segment(
                id: 3, range: SampleRange(SamplePosition(seconds: 40), SamplePosition(seconds: 41)), words: [],
                endedBy: .error),
            spoken(4, at: 50, "the water was cold enough to make you laugh"),
        ],
        gaps: [Gap(SampleRange(SamplePosition(seconds: 44), SamplePosition(seconds: 46)), cause: .overrun)],
        marks: [
            Bookmark(
                SamplePosition(seconds: 21), text: "the first landing, which we had not expected to be there at all")
        ])

    private static func rendered(_ format: TranscriptFormat) throws -> String {
        try format.render(timeline, details: RecordingDetails(title: "t", identity: identity))
    }

    private static let formats: [TranscriptFormat] = [.text, .srt, .vtt, .csv, .textgrid, .eaf]

    @Test("an unedited file changes nothing", arguments: formats)
    func uneditedFile(format: TranscriptFormat) throws {
        let written = try EditedTranscript(Self.rendered(format), fileExtension: format.fileExtension, name: "t")
        #expect(written.changes(in: Self.timeline) == [:])
    }

    @Test("a gap within a line is not a word", arguments: formats + [.qda])
    func gapInLine(format: TranscriptFormat) throws {
        var redacted = Self.timeline
        let word = redacted.segments[1].words[3].range
        redacted.gaps.insert(Gap(word, cause: .redacted), at: 0)
        redacted.segments[1].words.remove(at: 3)
        let text = try format.render(redacted, details: RecordingDetails(title: "t", identity: Self.identity))
        #expect(text.contains("struck"))
        let fileExtension = format == .qda ? "txt" : format.fileExtension
        let written = try EditedTranscript(text, fileExtension: fileExtension, name: "t")
        #expect(written.changes(in: redacted) == [:])
    }

    @Test("an edited word changes only its segment", arguments: formats)
    func editedWord(format: TranscriptFormat) throws {
        let text = try Self.rendered(format).replacing("cold", with: "very chilly").replacing("\n", with: "\r\n")
        let written = try EditedTranscript(text, fileExtension: format.fileExtension, name: "t")
        let expected = "the water was very chilly enough to make you laugh".split(separator: " ").map(String.init)
        #expect(written.changes(in: Self.timeline) == [4: expected])
    }

    @Test("files contain the speakers' names, which are not imported as words", arguments: formats)
    func speakers(format: TranscriptFormat) throws {
        var spokenByTwo = Self.timeline
        let seconds = { (start: Double, end: Double) in
            SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end))
        }
        spokenByTwo.speakers = Speakers(turns: [
            Speakers.Turn(seconds(0, 22), speaker: 0), Speakers.Turn(seconds(22, 60), speaker: 1),
        ])
        spokenByTwo.annotations = Annotations()
        spokenByTwo.annotations?.speakers = ["B": "Mrs. River"]
        let text = try format.render(spokenByTwo, details: RecordingDetails(title: "t", identity: Self.identity))
        #expect(text.contains("Mrs. River"))
        let written = try EditedTranscript(text, fileExtension: format.fileExtension, name: "t")
        #expect(written.changes(in: spokenByTwo) == [:])
    }

    @Test(
        "names that start with another name, or that a format cannot contain, are not imported as words",
        arguments: formats + [.qda],
        [["Ann", "Ann: Marie"], ["Ann: Marie", "Ann"], ["<v Bob>-->", "-->"], ["Anna (3 s)", "[the other one]"]])
    func unusualNames(format: TranscriptFormat, names: [String]) throws {
        var spokenByTwo = Self.timeline
        let seconds = { (start: Double, end: Double) in
            SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end))
        }
        spokenByTwo.speakers = Speakers(turns: [
            Speakers.Turn(seconds(0, 22), speaker: 0), Speakers.Turn(seconds(22, 60), speaker: 1),
        ])
        spokenByTwo.annotations = Annotations()
        spokenByTwo.annotations?.speakers = ["A": names[0], "B": names[1]]
        let text = try format.render(spokenByTwo, details: RecordingDetails(title: "t", identity: Self.identity))
        let fileExtension = format == .qda ? "txt" : format.fileExtension
        let written = try EditedTranscript(text, fileExtension: fileExtension, name: "t")
        #expect(written.changes(in: spokenByTwo) == [:], "\(text)")
    }

    @Test("overlapping speech is marked, and the marks are not imported as words", arguments: formats)
    func overlap(format: TranscriptFormat) throws {
        var spokenByTwo = Self.timeline
        let seconds = { (start: Double, end: Double) in
            SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end))
        }
        spokenByTwo.speakers = Speakers(turns: [
            Speakers.Turn(seconds(0, 21), speaker: 0), Speakers.Turn(seconds(20.4, 60), speaker: 1),
        ])
        let plain = try format.render(Self.timeline, details: RecordingDetails(title: "t", identity: Self.identity))
        let text = try format.render(spokenByTwo, details: RecordingDetails(title: "t", identity: Self.identity))
        let isMarked = ["//", "overlap"].contains { text.ranges(of: $0).count > plain.ranges(of: $0).count }
        #expect(isMarked, "\(text)")
        let written = try EditedTranscript(text, fileExtension: format.fileExtension, name: "t")
        #expect(written.changes(in: spokenByTwo) == [:])
        let corrected = try EditedTranscript(
            text.replacing("water", with: "lake"), fileExtension: format.fileExtension, name: "t")
        #expect(corrected.changes(in: spokenByTwo).keys.sorted() == [4])
    }

    /// The timeline with unclear speech in the segment without words.
    private static let unclearTimeline: Timeline = {
        var timeline = Self.timeline
        timeline.segments[2].endedBy = .silence
        timeline.segments[2].alternatives = [Alternative(text: "lobster and a bird", confidence: 0)]
        return timeline
    }()

    @Test("an unclear segment stays unclear until somebody writes its words", arguments: formats + [.qda, .labels])
    func unclearSegment(format: TranscriptFormat) throws {
        let details = RecordingDetails(title: "t", identity: Self.identity)
        let text = try format.render(Self.unclearTimeline, details: details)
        let fileExtension = format == .qda || format == .labels ? "txt" : format.fileExtension
        let unedited = try CorrectedText(
            EditedTranscript(text, fileExtension: fileExtension, name: "t"), over: Self.unclearTimeline)
        #expect(unedited.changedLineCount == 0 && unedited.lines.map(\.segment) == Self.unclearTimeline.segments)
        let edited = try CorrectedText(
            EditedTranscript(text.replacing("cold", with: "chilly"), fileExtension: fileExtension, name: "t"),
            over: Self.unclearTimeline)
        #expect(edited.lines.map(\.segment.heldBack) == [nil, nil, "lobster and a bird", nil])
        let written = try EditedTranscript(
            text.replacing("[unclear]", with: "lobster à la Newberg"), fileExtension: fileExtension, name: "t")
        #expect(written.changes(in: Self.unclearTimeline) == [3: ["lobster", "à", "la", "Newberg"]], "\(text)")
        let line = CorrectedText(written, over: Self.unclearTimeline).lines[2].segment
        #expect(line.heldBack == nil && line.range == Self.unclearTimeline.segments[2].range)
    }

    @Test("the text [unclear] is a word if a person writes it", arguments: formats)
    func unclearWord(format: TranscriptFormat) throws {
        let details = RecordingDetails(title: "t", identity: Self.identity)
        for timeline in [Self.timeline, Self.unclearTimeline] {
            let text = try format.render(timeline, details: details).replacing("cold", with: "[unclear]")
            let written = try EditedTranscript(text, fileExtension: format.fileExtension, name: "t")
            let expected = "the water was [unclear] enough to make you laugh".split(separator: " ").map(String.init)
            #expect(written.changes(in: timeline) == [4: expected])
        }
    }

    @Test("the recording's identity is in each format that can contain it")
    func identity() throws {
        for format in TranscriptFormat.allCases {
            let found = RecordingIdentity(in: try Self.rendered(format))
            #expect(found == (format.holdsIdentity ? Self.identity : nil), "\(format)")
        }
    }

    @Test("another recording's transcript does not count as similar", arguments: formats)
    func otherRecording(format: TranscriptFormat) throws {
        var otherTimeline = Self.timeline
        otherTimeline.segments = [
            spoken(1, at: 1, "ten of clubs is what she said to nobody that day"), spoken(2, at: 30, "no"),
        ]
        let text = try format.render(otherTimeline, details: RecordingDetails(title: "t"))
        let written = try EditedTranscript(text, fileExtension: format.fileExtension, name: "t")
        #expect(!CorrectedText(written, over: Self.timeline).isSimilar)
    }

    @Test("a truncated file is either parsed or refused", arguments: formats)
    func truncatedFile(format: TranscriptFormat) throws {
        let bytes = Array(try Self.rendered(format).utf8)
        for length in stride(from: 0, to: bytes.count, by: 7) {
            let text = String(decoding: bytes.prefix(length), as: UTF8.self)
            do throws(DeviceError) {
                let written = try EditedTranscript(text, fileExtension: format.fileExtension, name: "t")
                _ = written.changes(in: Self.timeline)
            } catch { #expect(error.message.hasPrefix("t")) }
        }
    }

    @Test(
        "malicious sizes, types and depths are refused with a message of one line",
        arguments: [
            ("TextGrid", "File type = \"ooTextFile\"\n\"TextGrid\"\n0 1 <exists> 1e300"),
            ("TextGrid", "\"ooTextFile\" \"TextGrid\" 0 1 <exists> -1"),
            ("TextGrid", "\"ooTextFile\" \"TextGrid\" 0 1 <exists> 1 \"IntervalTier\" \"words\" 0 1 9000000"),
            ("eaf", "<!DOCTYPE x [<!ENTITY a \"aaaa\">]><ANNOTATION_DOCUMENT>&a;</ANNOTATION_DOCUMENT>"),
            ("eaf", String(repeating: "<a>", count: 100_000)),
            ("eaf", "<ANNOTATION_DOCUMENT></TIER>"), ("eaf", "<ANNOTATION_DOCUMENT a=b/>"), ("eaf", "&"),
            ("csv", "kind,segment\n"), ("csv", "kind,text\n\"abc"), ("csv", "no"), ("vtt", "WEB"), ("srt", "hello"),
            ("exe", ""),
        ])
    func maliciousFile(fileExtension: String, text: String) {
        let error = refusal { () throws(DeviceError) in
            _ = try EditedTranscript(text, fileExtension: fileExtension, name: "f")
        }
        #expect(error?.message.hasPrefix("f") == true && error?.message.contains("\n") == false)
    }

    @Test("Praat's short form, comments, and UTF-16 are parsed")
    func praat() throws {
        let text = #"""
            File type = "ooTextFile"
            Object class = "TextGrid"
            ! a comment "with quotes" and 12
            0
            2
            <exists>
            1
            "IntervalTier"
            "words"
            0
            2
            2
            0
            1
            "say ""it"""
            1
            2
            "é"
            """#
        var bytes: [UInt8] = [0xFE, 0xFF]
        for unit in text.utf16 { bytes += [UInt8(unit >> 8), UInt8(unit & 255)] }
        let read = try EditedTranscript(try incomingText(bytes, name: "t"), fileExtension: "textgrid", name: "t")
        #expect(read.tiers.map { $0.map(\.text) } == [["say \"it\"", "é"]])
        #expect(read.tiers[0][1].range == SampleRange(SamplePosition(seconds: 1), SamplePosition(seconds: 2)))
    }

    @Test("each of a thousand edits in thirty thousand words is found in its line")
    func longTranscript() throws {
        var random = SeededGenerator(seed: 1)
        let vocabulary = (0..<2_000).map { "w\($0)" }
        let segments = (0..<3_000).map { id in
            spoken(
                id + 1, at: Double(id) * 11,
                (0..<10).map { _ in vocabulary[Int.random(in: 0..<2_000, using: &random)] }.joined(separator: " "))
        }
        let timeline = Timeline(
            name: "long", length: SamplePosition(seconds: 33_000),
            engine: EngineDescription(name: "", version: "", model: ""), segments: segments)
        let lines = segments.map { segment in
            segment.id.isMultiple(of: 3)
                ? (segment.words.dropLast().map(\.text) + ["other"]).joined(separator: " ") : segment.text
        }
        let texts = EditedTranscript(tiers: [lines.map { EditedTranscript.Entry($0) }]).changes(in: timeline)
        #expect(texts.count == 1_000 && texts.allSatisfy { $0.key.isMultiple(of: 3) && $0.value.last == "other" })
    }
}

extension EditedTranscript {
    /// Returns the words in each changed line, by segment id.
    func changes(in timeline: Timeline) -> [Int: [String]] {
        let changed = CorrectedText(self, over: timeline).lines.filter { !$0.changes.isEmpty || $0.isMoved }
        return Dictionary(uniqueKeysWithValues: changed.map { ($0.segment.id, $0.segment.words.map(\.text)) })
    }
}
