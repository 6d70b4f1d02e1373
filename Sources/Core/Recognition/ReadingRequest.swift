/// The options of a recognition.
package struct ReadingRequest: Hashable, Sendable {
    /// The number of alternatives wanted.
    package var alternatives: Int
    /// Ranges of speech, from the first sample, in order; empty: anywhere. Voice analytics are returned for each.
    package var parts: [SampleRange]

    package init(alternatives: Int = 0, parts: [SampleRange] = []) {
        self.alternatives = alternatives
        self.parts = parts
    }
}
