/// How the network's tokens are searched: data, not code.
package struct MoonshineProfile: Hashable, Sendable {
    /// As `--profile` of a worker and the archive name it.
    package var name: String
    /// Hypotheses that are followed beside each other.
    var width: Int
    /// How much longer texts are preferred: scores are divided by the length to this power.
    var lengthExponent: Double
    /// Hypotheses that are so many nats behind the likeliest are given up.
    var margin: Double
    /// Whether weights are kept twice, for half of the time.
    package var prepacks: Bool

    /// The likeliest token each time: for boards that `live` would be too slow for, and for what is shown while people speak.
    static let fast = MoonshineProfile(name: "fast", width: 1, lengthExponent: 0.5, margin: 3, prepacks: true)

    /// Four hypotheses.
    package static let live = MoonshineProfile(name: "live", width: 4, lengthExponent: 0.5, margin: 3, prepacks: true)

    /// What reads a recording once more, where it was read by `fast`.
    static let final = MoonshineProfile(name: "final", width: 4, lengthExponent: 0.5, margin: 3, prepacks: true)

    /// In the order in which commands list them.
    package static let all = [fast, live, final]
}
