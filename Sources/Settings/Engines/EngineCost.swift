/// What an engine needs, for `DecodePlan`. The defaults are PocketSphinx's.
package struct EngineCost: Hashable, Sendable {
    /// The memory of the first worker with the model, in megabytes.
    var firstMegabytes = 130

    /// The memory of each further worker that shares the model, in megabytes.
    var furtherMegabytes = 40

    /// The memory of each further worker with a model of its own, in megabytes.
    var aloneMegabytes = 100

    /// The profile for boards that are too slow for `live`; nil for none.
    var faster: String? = "fast"

    /// The speedup of that profile.
    var fasterRatio = 1.3

    /// The highest measured speedup: a board returns to `live` only if that certainly keeps up.
    var maxFasterRatio = 2.0

    /// How much longer `final` takes than `live`.
    var finalRatio = 4.0

    /// Whether `final` searches differently from `live`.
    package var finalReadsBetter = true

    /// A board with less memory uses one worker, the faster profile and no second pass. 0 for no limit.
    var smallBoardMegabytes = 0
}
