/// A recognizer's result for one utterance. Times are positions in the recording.
package struct Hypothesis: Hashable, Sendable {
    /// The words of the best result, in chronological order, without fillers.
    package var words: [Word]
    /// The alternatives, best first. If the engine held its text back as improbable, there are no words,
    /// and one alternative for each of `RecognitionOptions.parts`: its text, which is empty if nothing was voiced.
    package var alternatives: [Alternative]
    /// The best result's score, comparable only to results from the same engine for the same audio; nil if unknown.
    package var score: Double?
    /// Nil if unknown or if nothing was voiced.
    package var voice: VoiceAnalytics?
    /// The voice analytics for each of `RecognitionOptions.parts`; nil for parts where nothing was voiced. Empty if the
    /// engine provides none.
    package var voices: [VoiceAnalytics?]

    /// Chosen so that Moonshine's profile `final` takes 1.5 times the CPU time of `live`.
    private static let lowConfidence = 0.85

    /// Whether the hypothesis has words with a low mean confidence.
    package var hasLowConfidence: Bool {
        words.meanConfidence.map { $0 < Self.lowConfidence } ?? false
    }

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

/// An alternative text for a whole segment.
package struct Alternative: Hashable, Sendable, Codable {
    /// Words separated by spaces.
    package var text: String
    /// The probability relative to the other results, 0 to 1; 0 if the engine rejected the text as improbable.
    package let confidence: Double

    /// Whether the engine recognized the text but rejected it as improbable.
    var isHeldBack: Bool { confidence == 0 && !text.isEmpty }

    /// - Parameter confidence: Clamped to 0...1; NaN becomes 0.
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
