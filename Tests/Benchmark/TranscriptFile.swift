import Core
import FoundationEssentials

/// What is measured of a transcript in JSON, as `transcribe --format json` writes it.
struct TranscriptFile: Decodable {
    struct Segment: Decodable {
        var start: Double
        var end: Double
        var text: String
        var endedBy: EndReason
        var words: [Word]
        var voice: VoiceAnalytics?
    }

    struct Word: Decodable {
        var text: String
        var start: Double
        var end: Double
        var confidence: Double
        /// Whether its time was spread, since it could not be found.
        var timeEstimated: Bool?
        /// Who says it, `A`, `B` ...; only where somebody has looked.
        var speaker: String?

        /// What it is compared by: without case and marks.
        var key: String { Core.Word.key(of: text) }
    }

    var duration: Double
    var segments: [Segment]
    var statistics: Statistics

    var text: String { segments.map(\.text).joined(separator: " ") }

    var words: [Word] { segments.flatMap(\.words) }

    init(path: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(lines(path).joined(separator: "\n").utf8))
    }
}
