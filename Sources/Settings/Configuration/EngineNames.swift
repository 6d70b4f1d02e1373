/// The values of `recognizer.engine`. They come from `EngineRegistry`, since the configuration does not know the engines.
struct EngineNames: Sendable {
    /// In words: `auto, moonshine, pocketsphinx or command:PROGRAM`.
    let forms: String

    /// Whether a value names an engine.
    let accepts: @Sendable (String) -> Bool
}
