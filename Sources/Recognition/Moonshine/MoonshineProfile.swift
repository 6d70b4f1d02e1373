/// The settings of Moonshine's search, gain, vocabulary and speech gate.
package struct MoonshineProfile: Hashable, Sendable {
    /// The value of a worker's `--profile`, which the archive also stores.
    package var name: String
    /// The number of hypotheses.
    package var width: Int
    /// Whether to keep a second copy of the weights, which halves the decoding time.
    var prepacks = true
    /// Audio with a lower peak is amplified to full scale. Full scale is 1.
    package var quietPeak = 0.1
    /// The bonus per token of a vocabulary phrase, as a natural logarithm. Of the values 1, 1.5, 2 and 3, the value 2
    /// gave the fewest errors without inventing words.
    package var phraseWeight = 2.0
    /// The bonus per token of a phrase learned from corrections. The value 2 gave fewer errors than 1.5 on the `fit`
    /// part of `benchmark learning`.
    var learnedWeight = 2.0
    package var gate = SpeechGate()

    /// Greedy search, for boards that are too slow for `live`, and for partial results.
    package static let fast = MoonshineProfile(name: "fast", width: 1)

    package static let live = MoonshineProfile(name: "live", width: 4)

    /// For files, and for a second pass over recordings transcribed with `fast`. The search is that of `live`, but
    /// groups with low confidence are decoded twice (see `UtteranceCutter.Cut.context`).
    static let final = MoonshineProfile(name: "final", width: 4)

    /// All profiles, in the order in which commands list them.
    package static let all = [fast, live, final]
}
