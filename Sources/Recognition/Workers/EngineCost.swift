/// What an engine takes of a board, so that `DecodePlan` can tell what suits it. The defaults are PocketSphinx's.
package struct EngineCost: Hashable, Sendable {
    /// What the first worker takes, with the model, in megabytes.
    package var firstMegabytes = 130

    /// What each further worker takes that shares the model, in megabytes.
    package var furtherMegabytes = 40

    /// What each further worker takes that loads a model of its own, in megabytes.
    package var aloneMegabytes = 100

    /// The profile that takes the place of `live` on a board that is too slow for it; nil: there is none.
    package var faster: String? = "fast"

    /// How much faster that is.
    package var fasterRatio = 1.3

    /// How much faster at most, in what was measured: a board goes back to `live` only where that is certain to keep pace.
    package var mostFasterRatio = 2.0

    /// How much longer `final` takes than `live`.
    package var finalRatio = 4.0

    /// Whether `final` searches otherwise than `live`.
    package var finalReadsBetter = true

    /// A board with less memory reads with one worker, with the faster profile, and once only. 0: none is too small.
    package var smallBoardMegabytes = 0

    /// PocketSphinx's.
    package init() {}
}
