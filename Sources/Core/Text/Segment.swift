/// A committed part of a transcript: immutable, in order, without overlaps.
///
/// Journals contain its coding: a new member must be optional, so that the journals of earlier versions can be read.
package struct Segment: Hashable, Sendable, Codable {
    /// Counts from 1 within its recording.
    package var id: Int
    /// The range of the speech, which contains the words.
    package var range: SampleRange
    /// In chronological order; empty if the speech had no words.
    package var words: [Word]
    /// Alternatives for the whole segment, best first. A segment without words may have one that is held back.
    package var alternatives: [Alternative]
    package var endedBy: EndReason
    /// Measures of the voice; nil if unknown or nothing was voiced.
    package var voice: VoiceAnalytics?

    package init(
        id: Int, range: SampleRange, words: [Word], alternatives: [Alternative] = [], endedBy: EndReason,
        voice: VoiceAnalytics? = nil
    ) {
        self.id = id
        self.range = range
        self.words = words
        self.alternatives = alternatives
        self.endedBy = endedBy
        self.voice = voice
    }

    /// The text that the engine rejected as improbable; nil if it accepted its words or read none.
    package var heldBack: String? {
        guard words.isEmpty, endedBy != .error, let first = alternatives.first, first.isHeldBack else { return nil }
        return first.text
    }

    package var text: String { words.map(\.text).joined(separator: " ") }

    /// The mean confidence of the words, 0 without words.
    package var confidence: Double {
        words.isEmpty ? 0 : words.reduce(0) { $0 + $1.confidence } / Double(words.count)
    }
}
