import Core

/// The measured part of a JSON transcript, as `transcribe --format json` writes it.
struct TranscriptFile: Decodable {
    struct Segment: Decodable {
        var start: Double
        var end: Double
        var text: String
        var endedBy: EndReason
        var words: [Word]
        var voice: VoiceAnalytics?
        /// True if its text is held back.
        var unclear: Bool?
    }

    struct Word: Decodable {
        var text: String
        var start: Double
        var end: Double
        var confidence: Double
        /// Whether its time is an estimate, because alignment failed.
        var timeEstimated: Bool?
        /// The speaker, `A`, `B` ...; only if speakers were identified.
        var speaker: String?

        /// Its form for comparison: without case and punctuation.
        var key: String { Core.Word.key(of: text) }
    }

    var duration: Double
    var segments: [Segment]
    var statistics: Statistics

    var text: String { segments.map(\.text).joined(separator: " ") }

    var words: [Word] { segments.flatMap(\.words) }

    /// The number of segments whose text is held back.
    var unclear: Int { segments.count { $0.unclear == true } }
}
