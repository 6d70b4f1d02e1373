/// What a recognizer makes of one utterance; its times are positions in the recording.
package struct Hypothesis: Hashable, Sendable {
    /// The best reading, in the order of time, without fillers.
    package var words: [Word]

    /// Other readings, best first.
    package var alternatives: [Alternative]

    /// How well the best reading fits, in the engine's own scale: compares readings of the same audio. Nil: not told.
    package var score: Double?

    /// How the voice sounded; nil where the engine does not tell, or nothing was voiced.
    package var voice: VoiceAnalytics?

    /// How the voice sounded in each part of the audio, where parts were named; nil where nothing was voiced. Empty where the
    /// engine does not tell.
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

/// Another reading of a whole segment.
package struct Alternative: Hashable, Sendable, Codable {
    /// Its words, with a space between each two.
    package var text: String

    /// Its share among the readings that were compared, 0 to 1. What is no number is 0.
    package let confidence: Double

    /// - Parameter confidence: moved into 0 to 1; what is not a number becomes 0.
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
