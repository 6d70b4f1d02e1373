/// The options of `decode-worker`.
package struct WorkerOptions: Sendable {
    /// One of the engine's profiles.
    package var profile = "live"

    /// The model's folder or file.
    package var model: String?

    /// The PocketSphinx model folder with which another engine's words are timed.
    package var timingModel: String?

    /// Replaces the model's own.
    package var languageModel: String?
    /// A pronouncing dictionary that replaces the model's own.
    package var dictionary: String?

    /// The user's words and phrases, or a grammar.
    package var vocabulary: String?

    /// The archive's folder, for words learned from corrections; nil to ignore them.
    package var learned: String?

    /// The folder for files that can be recreated.
    package var cache = "."
    /// The kind of words to expect.
    package var hint = Configuration.Recognizer.Hint.dictation

    /// Gets each message about the user's vocabulary.
    package var tell: @Sendable (String) -> Void = { _ in }

    /// The defaults.
    package init() {}

    /// The words learned from corrections, as a vocabulary; nil if there are none.
    func learnedWords() -> String? {
        learned.flatMap { LearnedVocabulary(storage: $0).inUse(tell) }
    }
}
