import FoundationEssentials
import Testing

@testable import Core
@testable import Transcripts

@Suite("Parsing a copy's transcript and page") struct ParsedTranscriptTests {
    private static func timeline() -> Timeline {
        let words = ["we", "planted", "fonio"].enumerated().map { index, text in
            Word(
                text, SampleRange(SamplePosition(Int64(index) * 1_601), SamplePosition(Int64(index) * 1_601 + 1_599)),
                confidence: 0.25, hasEstimatedTime: index == 1)
        }
        let first = Segment(
            id: 1, range: SampleRange(.zero, SamplePosition(9_999)), words: words,
            alternatives: [Alternative(text: "we plant", confidence: 0.5)], endedBy: .rotation)
        let second = Segment(
            id: 2, range: SampleRange(SamplePosition(20_001), SamplePosition(30_000)), words: [], endedBy: .error)
        var timeline = Timeline(
            name: "000007", length: SamplePosition(40_000),
            engine: EngineDescription(name: "e", version: "1", model: "m"),
            segments: [first, second],
            gaps: [Gap(SampleRange(SamplePosition(10_000), SamplePosition(20_001)), cause: .redacted)],
            marks: [Bookmark(SamplePosition(5), text: "here \u{2028} </script>")],
            transcribedUpTo: SamplePosition(39_999))
        timeline.speakers = Speakers(turns: [
            Speakers.Turn(words[0].range, speaker: 1),
            Speakers.Turn(SampleRange(words[1].range.start, words[2].range.end), speaker: 0),
        ])
        timeline.annotations = Annotations()
        timeline.annotations?.speakers = ["A": "Awa"]
        return timeline
    }

    @Test("the parsed transcript equals the exported one, exact to the sample")
    func roundTrip() throws {
        let timeline = Self.timeline()
        let read = try ParsedTranscript(Array(TranscriptFormat.json.render(timeline).utf8), name: "f").timeline
        #expect(read.segments == timeline.segments && read.gaps == timeline.gaps && read.marks == timeline.marks)
        #expect(read.speakers == timeline.speakers && read.annotations == timeline.annotations)
        #expect(
            read.engine == timeline.engine && read.length == timeline.length
                && read.transcribedUpTo == timeline.transcribedUpTo
        )
    }

    @Test("a transcript with another sample rate is refused with the field and the supported rate")
    func otherSampleRate() throws {
        let text = try TranscriptFormat.json.render(Self.timeline()).replacing(
            #""sampleRate":16000"#, with: #""sampleRate":44100"#)
        let error = refusal { () throws(DeviceError) in _ = try ParsedTranscript(Array(text.utf8), name: "f") }
        #expect(error?.message == "f: has the sampleRate 44100; only 16000 is supported")
    }

    @Test(
        "held-back text stays held back, and a confidence rounded to zero holds no text back",
        arguments: [true, false])
    func heldBackText(isPlain: Bool) throws {
        var timeline = Self.timeline()
        timeline.segments[1].endedBy = .silence
        timeline.segments[1].alternatives = [Alternative(text: "fonio", confidence: 0)]
        var text = try TranscriptFormat.json.render(timeline)
        // The standard decoder handles anything unusual, such as this number.
        if !isPlain { text = text.replacing(#""id":2,"#, with: #""id":2e0,"#) }
        let read = try ParsedTranscript(Array(text.utf8), name: "f").timeline
        #expect(read.segments == timeline.segments && read.segments[1].heldBack == "fonio")
        let rounded = text.replacing(#""unclear":true,"#, with: "")
        #expect(try ParsedTranscript(Array(rounded.utf8), name: "f").timeline.segments[1].alternatives.isEmpty)
    }

    @Test("the result for any transcript is the same as the standard decoder's")
    func matchesDecoder() throws {
        let written = Array(try TranscriptFormat.json.render(Self.timeline()).utf8)
        #expect(JSONScanner.segments(in: written)?.segments.count == 2)
        var documents = [String(decoding: written, as: UTF8.self)]
        let word = #"{"text":"a","start":0,"end":1}"#
        for (name, value) in [
            ("start", "1e1"), ("start", "0e5"), ("start", "-0"), ("start", "0.1234567890123456789"),
            ("start", "9007199254740993"),
            ("start", "123456789.123456789"), ("start", "1e999"), ("start", "01"), ("start", "1."), ("start", ".1"),
            ("start", "-"), ("start", "+1"), ("start", "\"1\""), ("start", "null"), ("id", "1.0"), ("id", "-7"),
            ("id", "99999999999999999999"), ("id", "1e2"), ("endedBy", "\"nothing\""), ("endedBy", "\"\\u0073top\""),
            ("endedBy", "null"), ("words", "null"), ("words", "[]"), ("words", "[\(word),]"), ("words", "[,]"),
            ("words", "[\(word) \(word)]"), ("words", "[null]"), ("words", "[{\"text\":\"a\",\"start\":0}]"),
            ("words", #"[{"text":"a\n\t\"\\\/\b\u00e9\ud83d\ude00","start":0,"end":1}]"#), ("words", "{}"),
            ("words", #"[{"t\u0065xt":"a","start":0,"end":1}]"#),
            ("words", #"[{"text":"a","start":0,"end":1,"text":"b"}]"#),
            ("words", #"[{"text":"a","start":0,"end":1,"timeEstimated":true,"speaker":"B","confidence":0.3}]"#),
            ("words", #"[{"text":"a","start":0,"end":1,"timeEstimated":1}]"#),
            ("other", "[[[[{}]]], true, false, null]"),
            ("other", String(repeating: "[", count: 600)), ("other", "tru"), ("other", "{\"a\" 1}"), ("other", "{1:1}"),
            ("other", String(repeating: "[", count: 40) + String(repeating: "]", count: 40)),
            ("alternatives", #"[{"text":"a"},{"confidence":1,"text":"b","x":{}}]"#), ("alternatives", "[{}]"),
        ] {
            for required in [#""id":1,"start":0,"end":1,"#, ""] {
                documents.append(
                    #"{"file":"f","duration":1,"sampleRate":16000,"engine":{"name":"e","version":"","model":""},"segments":["#
                        + "{\(required)\"\(name)\":\(value)} ] }")
            }
        }
        documents += [#"{"segments":[]}"#, #"{"segments":[],"segments":[]}"#, "[]", "{", "", "\u{FEFF}{}", "{}{}"]
        documents.append(documents[0].replacing("\"segments\"", with: "\"segm\\u0065nts\""))
        documents.append(documents[0].replacing("\"gaps\"", with: "\"segments\""))
        documents.append(documents[0] + "x")
        var random = SystemRandomNumberGenerator()
        let replacements = Array("{}[]\",:.-0159eEnullrfatsid \n\\/".utf8)
        for _ in 0..<3_000 {
            var bytes = written
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let offset = Int.random(in: 0..<bytes.count, using: &random)
                let count = Int.random(in: 0...3, using: &random)
                bytes.replaceSubrange(
                    offset..<min(bytes.count, offset + count),
                    with: (0..<Int.random(in: 0...2, using: &random)).map { _ in
                        replacements.randomElement(using: &random)!
                    }
                )
            }
            documents.append(String(decoding: bytes, as: UTF8.self))
        }
        for document in documents {
            guard let bytes = try? JSONStrings.check(Array(document.utf8)) else { continue }
            let expected = try? JSONDecoder().decode(TranscriptDocument.self, from: Data(bytes))
            let read = try? TranscriptDocument(bytes)
            #expect(read == expected, "\(document)")
        }
    }

    @Test("a page contains the annotations and the recording's identity")
    func page() throws {
        var timeline = Self.timeline()
        var annotations = Annotations()
        (annotations.title, annotations.people, annotations.place, annotations.note, annotations.consent) = (
            "</script> & \u{2028}", "Awa", "x", "y\nz", "yes"
        )
        annotations.notes = [Bookmark(SamplePosition(16_000), text: "a note")]
        annotations.speakers = ["B": "Musa"]
        annotations.quotations = [
            Quotation(SampleRange(.zero, SamplePosition(8_000)), text: "we", word: "idea", colour: "red")
        ]
        timeline.annotations = annotations
        timeline.pass = 3
        var details = RecordingDetails(timeline)
        details.identity = RecordingIdentity(recording: 7, pass: 3, sound: String(repeating: "ab", count: 32))
        let page = try TranscriptFormat.html.render(timeline, details: details)
        let read = try ParsedPage(Array(page.utf8), name: "f")
        #expect(read.identity == details.identity)
        var expected = annotations
        expected.notes = read.annotations?.notes ?? []
        #expect(read.annotations == expected && read.annotations?.notes.map(\.text) == ["a note"])
        #expect(
            try ParsedPage(
                Array(TranscriptFormat.html.render(Timeline(name: "", length: .zero, engine: timeline.engine)).utf8),
                name: "f"
            ).identity == nil)
    }

    @Test(
        "other files are refused",
        arguments: ["", "{", "[]", "{\"file\":1}", "\u{FFFF}", "<html>", "{\"\\ud800\":1}"])
    func otherFiles(text: String) {
        for read in [
            { _ = try ParsedTranscript(Array(text.utf8), name: "f") },
            { _ = try ParsedPage(Array(text.utf8), name: "f") },
        ] {
            #expect(throws: DeviceError.self) { try read() }
        }
    }
}
