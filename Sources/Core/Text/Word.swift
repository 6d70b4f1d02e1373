/// One recognized word and its range.
package struct Word: Hashable, Sendable, Codable {
    /// The text as the engine wrote it, with punctuation.
    package var text: String
    package var range: SampleRange

    /// The confidence from 0 to 1: the word's posterior in the lattice.
    package var confidence: Double { didSet { confidence = confidence.asShare } }

    /// Whether the range is an estimate: a share of the speech around it, because no alignment was possible.
    package var isSpread: Bool

    /// - Parameter confidence: Clamped to 0 to 1; NaN becomes 0.
    package init(_ text: String, _ range: SampleRange, confidence: Double, isSpread: Bool = false) {
        self.text = text
        self.range = range
        self.confidence = confidence.asShare
        self.isSpread = isSpread
    }

    private enum CodingKeys: CodingKey { case text, range, confidence, isSpread }

    /// Without `isSpread`, the range was measured.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        text = try container.decode(String.self, forKey: .text)
        range = try container.decode(SampleRange.self, forKey: .range)
        confidence = try container.decode(Double.self, forKey: .confidence).asShare
        isSpread = try container.decodeIfPresent(Bool.self, forKey: .isSpread) ?? false
    }

    /// Writes `isSpread` only if it is true.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(text, forKey: .text)
        try container.encode(range, forKey: .range)
        try container.encode(confidence, forKey: .confidence)
        if isSpread { try container.encode(true, forKey: .isSpread) }
    }
}
