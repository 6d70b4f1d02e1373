import Core

/// The fields of a JSON transcript from `transcribe --format json` that the benchmark uses.
struct TranscriptFile: Decodable {
    struct Segment: Decodable {
        var start: Double
        var end: Double
        var text: String
        var endedBy: EndReason
        var words: [Word]
        var voice: VoiceAnalytics?
        /// True if the text was rejected and is not shown.
        var unclear: Bool?
    }

    struct Word: Decodable {
        var text: String
        var start: Double
        var end: Double
        var confidence: Double
        /// Whether the time is an estimate because alignment failed.
        var timeEstimated: Bool?
        /// The speaker, such as `A` or `B`; nil if speakers were not identified.
        var speaker: String?

        /// The word in a form without case or punctuation, for comparison.
        var key: String { Core.Word.key(of: text) }
    }

    var duration: Double
    var segments: [Segment]
    var statistics: Statistics

    var text: String { segments.map(\.text).joined(separator: " ") }

    var words: [Word] { segments.flatMap(\.words) }

    /// The number of segments whose text was rejected and is not shown.
    var unclearCount: Int { segments.count { $0.unclear == true } }
}
