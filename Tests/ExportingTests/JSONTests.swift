import FoundationEssentials
import Testing

@testable import Core
@testable import System
@testable import Transcripts

@Suite("JSON round trips")
struct JSONTests {
    private struct Document: Decodable {
        struct Segment: Decodable, Equatable {
            struct Word: Decodable, Equatable {
                var text: String
                var start, end, confidence: Double
            }
            struct Alternative: Decodable, Equatable {
                var text: String
                var confidence: Double
            }
            var id: Int
            var start, end: Double
            var text: String
            var confidence: Double
            var final: Bool
            var endedBy: EndReason
            var words: [Word]
            var alternatives: [Alternative]
        }
        struct Gap: Decodable, Equatable {
            var start, end: Double
            var cause: Core.Gap.Cause
        }
        struct Mark: Decodable, Equatable {
            var time: Double
            var text: String
        }
        var file: String
        var duration: Double
        var sampleRate: Int
        var engine: EngineDescription
        var segments: [Segment]
        var gaps: [Gap]
        var marks: [Mark]
        var statistics: Statistics?
    }

    private struct Kind: Decodable { var type: String }

    private func decode<Value: Decodable>(_ type: Value.Type, _ json: some StringProtocol) throws -> Value {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }

    @Test("a decoded transcript has the same times, exact to the sample")
    func transcript() throws {
        let document = try decode(Document.self, TranscriptFormat.json.render(sample))
        #expect(document.file == sample.name)
        #expect(document.sampleRate == 16_000)
        #expect(SamplePosition(seconds: document.duration) == sample.length)
        #expect(document.engine == sample.engine)
        #expect(document.gaps == [.init(start: 8, end: 10.25, cause: .overrun)])
        #expect(document.marks.map(\.time) == sample.marks.map(\.position.seconds))
        #expect(document.statistics?.sessions == 9)
        try #require(document.segments.count == sample.segments.count)
        for (decoded, original) in zip(document.segments, sample.segments) {
            #expect(decoded.id == original.id)
            #expect(decoded.text == original.text)
            #expect(decoded.endedBy == original.endedBy)
            #expect(abs(decoded.confidence - original.confidence) <= 0.000_05)
            let range = SampleRange(SamplePosition(seconds: decoded.start), SamplePosition(seconds: decoded.end))
            #expect(range == original.range)
            #expect(decoded.words.map { word($0.text, $0.start, $0.end).range } == original.words.map(\.range))
            #expect(decoded.words.map(\.text) == original.words.map(\.text))
            #expect(decoded.alternatives.map(\.text) == original.alternatives.map(\.text))
        }
    }

    @Test("a position after a hundred hours is exact to the sample")
    func longRecording() throws {
        let position = SamplePosition(100 * 3_600 * 16_000 + 1)
        let original = timeline(
            [Segment(id: 1, range: SampleRange(position, position + 1), words: [], endedBy: .stop)], seconds: 400_000)
        let document = try decode(Document.self, TranscriptFormat.json.render(original))
        #expect(document.segments.first.map { SamplePosition(seconds: $0.start) } == position)
        #expect(document.segments.first.map { SamplePosition(seconds: $0.end) } == position + 1)
    }

    @Test(
        "unusual characters are decoded unchanged, and every object stays on one line",
        arguments: [
            "\"quoted\" \\ /slashes/", "two\nlines\r\nand\u{2028}more", "nul\0nul", "👩‍🚀 e\u{301}",
            "\u{202E}bidi\u{202C}",
            "<b>&amp;</b> -->", "\u{FEFF}\u{1}\u{7F}",
        ])
    func oddCharacters(text: String) throws {
        let original = timeline(
            [segment(1, [word(text, 0, 1)])], marks: [Bookmark(SamplePosition(seconds: 2), text: text)])
        let json = try TranscriptFormat.json.render(original)
        #expect(json.split(separator: "\n").count == 1)
        let document = try decode(Document.self, json)
        let firstWord = document.segments.first?.words.first
        #expect(firstWord.map { Array($0.text.unicodeScalars) } == Array(text.unicodeScalars))
        #expect(document.marks.first.map { Array($0.text.unicodeScalars) } == Array(text.unicodeScalars))
        let lines = try TranscriptFormat.jsonl.render(original).split(separator: "\n")
        #expect(try lines.map { try decode(Kind.self, $0).type } == ["header", "segment", "mark"])
    }

    @Test("NaN and infinite confidences become 0", arguments: [Double.nan, .infinity, -.infinity])
    func notANumber(confidence: Double) throws {
        let original = timeline([segment(1, [word("a", 0, 1, confidence)])])
        let document = try decode(Document.self, TranscriptFormat.json.render(original))
        #expect(document.segments.first?.words.first?.confidence == 0)
        #expect(document.segments.first?.confidence == 0)
    }

    @Test("a word is marked only if its times are estimated")
    func estimated() throws {
        var estimate = word("b", 1, 2)
        estimate.hasEstimatedTime = true
        let line = try jsonObject(SegmentJSON(segment(1, [word("a", 0, 1), estimate])))
        let words = line.split(separator: #"{"confidence""#).dropFirst()
        #expect(words.map { $0.contains(#""timeEstimated":true"#) } == [false, true])
        #expect(line.split(separator: "timeEstimated").count == 2)
    }

    @Test("every confidence prints with at most four decimals")
    func shortNumbers() throws {
        for tenThousandth in 0...10_000 {
            let number = Double(tenThousandth) / 10_000 + 0.000_01
            let line = try jsonObject(SegmentJSON(segment(1, [word("a", 0, 1, number)])))
            let printed = line.split(separator: "\"confidence\":")[1].prefix { $0 != "," }
            #expect(printed.count <= 6, "\(number)")
            #expect(Double(printed) == Double(tenThousandth) / 10_000)
        }
    }

    @Test("lines with the same start keep their order")
    func ties() throws {
        let position = SamplePosition(seconds: 1)
        let original = timeline(
            [segment(1, [word("a", 1, 2)])], gaps: [gap(1, 2)],
            marks: (1...40).map { Bookmark(position, text: String($0)) })
        let lines = try TranscriptFormat.jsonl.render(original).split(separator: "\n")
        #expect(try lines.prefix(4).map { try decode(Kind.self, $0).type } == ["header", "segment", "gap", "mark"])
        #expect(try lines.dropFirst(3).map { try decode(Document.Mark.self, $0).text } == (1...40).map(String.init))
    }
}
