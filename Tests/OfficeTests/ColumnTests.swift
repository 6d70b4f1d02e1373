import FoundationEssentials
import Testing
import TestKit

@testable import Core
@testable import Office

@Suite("A stored timeline") struct ColumnTests {

    /// Makes a random timeline, in which any optional value may be present, and texts contain characters that JSON escapes.
    private func timeline(_ random: inout some RandomNumberGenerator) -> Timeline {
        let texts = [
            "fonio", "\"said\"", #"a\b"#, "", "été", "日本", "\u{0}\u{1f}\n\t", "</script>", "e\u{301}", "👩‍🌾",
            #""segments":[]"#,
        ]
        func position() -> SamplePosition { SamplePosition(.random(in: -5...40_000_000, using: &random)) }
        func range() -> SampleRange { SampleRange(position(), position()) }
        func text() -> String { texts.randomElement(using: &random) ?? "" }
        func fraction() -> Double {
            [0, 1, 0.1, 1e-7, .random(in: 0...1, using: &random)].randomElement(using: &random) ?? 0
        }
        func words() -> [Word] {
            (0..<Int.random(in: 0...5, using: &random)).map { _ in
                Word(text(), range(), confidence: fraction(), hasEstimatedTime: .random(using: &random))
            }
        }
        var timeline = Timeline(
            name: text(), length: position(),
            engine: EngineDescription(name: text(), version: text(), model: text()))
        for index in 0..<Int.random(in: 0...4, using: &random) {
            let voice = VoiceAnalytics(
                pitch: 180.25, jitter: fraction(), shimmer: fraction(), voicing: fraction(),
                finalLowering: .random(using: &random) ? -1.5 : nil)
            timeline.segments.append(
                Segment(
                    id: index + 1, range: range(), words: words(),
                    alternatives: words().map { Alternative(text: $0.text, confidence: $0.confidence) },
                    endedBy: EndReason.allCases.randomElement(using: &random) ?? .silence,
                    voice: .random(using: &random) ? voice : nil))
        }
        timeline.marks = [Bookmark(position(), text: text())]
        timeline.gaps = [Gap(range(), cause: .redacted)]
        return timeline
    }

    @Test("is equivalent to the JSON that JSONEncoder writes, for any text")
    func matchesEncoder() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let timeline = timeline(&random)
            let column = try timeline.column
            let decoded = try JSONDecoder().decode(JSONValue.self, from: Data(column.utf8))
            let expected = try JSONDecoder().decode(JSONValue.self, from: try JSONEncoder().encode(timeline))
            #expect(decoded == expected)
            #expect(Timeline(column: column)?.segments == timeline.segments)
        }
    }
}
