/// One recognized word and its range.
package struct Word: Hashable, Sendable, Codable {
    /// The text from the engine, with punctuation.
    package var text: String
    package var range: SampleRange

    /// The estimated probability that the word is right, 0 to 1.
    package var confidence: Double { didSet { confidence = confidence.asShare } }

    /// Whether the range is only an estimate, because alignment was not possible.
    package var hasEstimatedTime: Bool

    /// - Parameter confidence: Clamped to 0...1; NaN becomes 0.
    package init(_ text: String, _ range: SampleRange, confidence: Double, hasEstimatedTime: Bool = false) {
        self.text = text
        self.range = range
        self.confidence = confidence.asShare
        self.hasEstimatedTime = hasEstimatedTime
    }

    private enum CodingKeys: String, CodingKey {
        case text, range, confidence
        case hasEstimatedTime = "isSpread"
    }

    /// Decodes a word. A missing `isSpread` means that the range was measured.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        text = try container.decode(String.self, forKey: .text)
        range = try container.decode(SampleRange.self, forKey: .range)
        confidence = try container.decode(Double.self, forKey: .confidence).asShare
        hasEstimatedTime = try container.decodeIfPresent(Bool.self, forKey: .hasEstimatedTime) ?? false
    }

    /// Encodes the word. Omits `isSpread` if it is false.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(text, forKey: .text)
        try container.encode(range, forKey: .range)
        try container.encode(confidence, forKey: .confidence)
        if hasEstimatedTime { try container.encode(true, forKey: .hasEstimatedTime) }
    }
}

extension [Word] {
    /// The mean confidence; nil if there are no words.
    package var meanConfidence: Double? {
        isEmpty ? nil : reduce(0) { $0 + $1.confidence } / Double(count)
    }
}
