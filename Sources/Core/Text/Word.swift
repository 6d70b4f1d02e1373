/// One recognized word and where it was said.
package struct Word: Hashable, Sendable, Codable {
    /// As the engine wrote it, with any punctuation that it adds.
    package var text: String
    /// Where in the recording it was said.
    package var range: SampleRange

    /// How sure the engine is, 0 to 1: the posterior of the word in its lattice. What is no number is 0.
    package var confidence: Double { didSet { confidence = confidence.asShare } }

    /// Whether the range is an estimate: its share of the speech that it was read in, since nobody could tell where in it
    /// the word was said.
    package var isSpread: Bool

    /// - Parameter confidence: moved into 0 to 1; what is not a number becomes 0.
    package init(_ text: String, _ range: SampleRange, confidence: Double, isSpread: Bool = false) {
        self.text = text
        self.range = range
        self.confidence = confidence.asShare
        self.isSpread = isSpread
    }

    private enum CodingKeys: CodingKey { case text, range, confidence, isSpread }

    /// What tells nothing of the estimate was measured.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        text = try container.decode(String.self, forKey: .text)
        range = try container.decode(SampleRange.self, forKey: .range)
        confidence = try container.decode(Double.self, forKey: .confidence).asShare
        isSpread = try container.decodeIfPresent(Bool.self, forKey: .isSpread) ?? false
    }

    /// The estimate is told only where it is one.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(text, forKey: .text)
        try container.encode(range, forKey: .range)
        try container.encode(confidence, forKey: .confidence)
        if isSpread { try container.encode(true, forKey: .isSpread) }
    }
}
