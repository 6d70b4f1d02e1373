/// One recognized word and where it was said.
package struct Word: Hashable, Sendable, Codable {
    package var text: String
    package var range: SampleRange

    /// How sure the engine is, 0 to 1: the posterior of the word in its lattice.
    package var confidence: Double

    package init(_ text: String, _ range: SampleRange, confidence: Double) {
        self.text = text
        self.range = range
        self.confidence = confidence
    }
}
