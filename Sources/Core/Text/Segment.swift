/// A committed piece of transcript: immutable, in order, and never overlapping its neighbours.
package struct Segment: Hashable, Sendable, Codable {
    /// 1, 2, 3 ... within its recording.
    package var id: Int

    /// Where the speech was. Words lie inside it.
    package var range: SampleRange

    /// In the order of time; empty where there was speech that gave no word.
    package var words: [Word]
    /// Other readings of the whole segment, best first.
    package var alternatives: [Alternative]
    /// Why it ended where it did.
    package var endedBy: EndReason

    /// How the voice sounded; nil where the engine does not tell, or nothing was voiced.
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

    /// The words with a space between each two; empty where there was speech that gave no word.
    package var text: String { words.map(\.text).joined(separator: " ") }

    /// The mean of the words' confidences, 0 without words.
    package var confidence: Double {
        words.isEmpty ? 0 : words.reduce(0) { $0 + $1.confidence } / Double(words.count)
    }
}
