/// A recognizer's result for one utterance; times are positions in the recording.
package struct Hypothesis: Hashable, Sendable {
    /// The best result, in chronological order, without fillers.
    package var words: [Word]
    /// Alternatives, best first. Without words: the held-back texts, one for each requested part, empty for parts
    /// without a voice.
    package var alternatives: [Alternative]
    /// The score of the best result in the engine's scale, to compare results for the same audio; nil if unknown.
    package var score: Double?
    /// Measures of the voice; nil if unknown or nothing was voiced.
    package var voice: VoiceAnalytics?
    /// Measures of the voice in each requested part; nil if nothing was voiced. Empty if the engine has none.
    package var voices: [VoiceAnalytics?]

    package init(
        words: [Word] = [], alternatives: [Alternative] = [], score: Double? = nil, voice: VoiceAnalytics? = nil,
        voices: [VoiceAnalytics?] = []
    ) {
        self.words = words
        self.alternatives = alternatives
        self.score = score
        self.voice = voice
        self.voices = voices
    }
}

/// An alternative for a whole segment.
package struct Alternative: Hashable, Sendable, Codable {
    /// Words separated by spaces.
    package var text: String
    /// Its share among the compared results, 0 to 1; 0 if the engine rejected it as improbable.
    package let confidence: Double

    /// Whether the engine read it, but rejected it as improbable.
    var isHeldBack: Bool { confidence == 0 && !text.isEmpty }

    /// - Parameter confidence: Clamped to 0 to 1; NaN becomes 0.
    package init(text: String, confidence: Double) {
        self.text = text
        self.confidence = confidence.asShare
    }

    private enum CodingKeys: CodingKey { case text, confidence }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            text: try container.decode(String.self, forKey: .text),
            confidence: try container.decode(Double.self, forKey: .confidence))
    }
}
