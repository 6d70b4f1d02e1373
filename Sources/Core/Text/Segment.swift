/// A committed part of a transcript. Committed segments do not change, are in chronological order, and do not
/// overlap.
///
/// Journals contain encoded segments, so new members must be optional to keep journals from earlier versions readable.
package struct Segment: Hashable, Sendable, Codable {
    /// Counts from 1 within the pass.
    package var id: Int
    /// The range of the speech, which contains the words.
    package var range: SampleRange
    package var words: [Word]
    /// Alternatives for the whole segment, best first. A segment without words may have a held-back alternative.
    package var alternatives: [Alternative]
    package var endedBy: EndReason
    /// Nil if unknown or if nothing was voiced.
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

    /// The text that the engine recognized but rejected as improbable; nil if there is none.
    package var heldBack: String? {
        guard words.isEmpty, endedBy != .error, let first = alternatives.first, first.isHeldBack else { return nil }
        return first.text
    }

    package var text: String { words.map(\.text).joined(separator: " ") }

    /// The mean confidence of the words; 0 if there are none.
    package var confidence: Double {
        words.meanConfidence ?? 0
    }
}
