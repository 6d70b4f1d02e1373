/// The search parameters of Moonshine.
package struct MoonshineProfile: Hashable, Sendable {
    /// The name for a worker's `--profile` and in the archive.
    package var name: String
    /// The number of hypotheses.
    var width: Int
    /// The length normalization: scores are divided by the length to this power.
    var lengthExponent: Double
    /// Hypotheses more than this many nats behind the best are dropped.
    var margin: Double
    /// Whether to keep weights twice, for half of the time.
    package var prepacks: Bool

    /// Greedy search, for boards that are too slow for `live`, and for partial results.
    package static let fast = MoonshineProfile(name: "fast", width: 1, lengthExponent: 0.5, margin: 3, prepacks: true)

    /// Four hypotheses.
    package static let live = MoonshineProfile(name: "live", width: 4, lengthExponent: 0.5, margin: 3, prepacks: true)

    /// For a second pass over recordings read by `fast`.
    static let final = MoonshineProfile(name: "final", width: 4, lengthExponent: 0.5, margin: 3, prepacks: true)

    /// In the order in which commands list them.
    package static let all = [fast, live, final]
}
