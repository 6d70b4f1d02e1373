/// What `recognizer.engine` may say. The registry of engines tells it: the configuration itself knows none.
struct EngineNames: Sendable {
    /// In words: `auto, moonshine, pocketsphinx or command:PROGRAM`.
    let forms: String

    /// Whether a value names an engine.
    let accepts: @Sendable (String) -> Bool

    init(forms: String, accepts: @escaping @Sendable (String) -> Bool) {
        self.forms = forms
        self.accepts = accepts
    }
}
