/// What is wanted of a reading.
package struct ReadingRequest: Hashable, Sendable {
    /// How many other readings are wanted.
    package var alternatives: Int

    /// Where speech is, counted from the first sample, in order; none: anywhere. Voice analytics are told for each.
    package var parts: [SampleRange]

    package init(alternatives: Int = 0, parts: [SampleRange] = []) {
        self.alternatives = alternatives
        self.parts = parts
    }
}
