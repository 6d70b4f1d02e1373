/// What `recognizer.engine` may say. The registry of engines tells it: the configuration itself knows none.
package struct EngineNames: Sendable {
    /// In words: `auto, moonshine, pocketsphinx or command:PROGRAM`.
    package let forms: String

    /// Whether a value names an engine.
    package let accepts: @Sendable (String) -> Bool

    package init(forms: String, accepts: @escaping @Sendable (String) -> Bool) {
        self.forms = forms
        self.accepts = accepts
    }
}
