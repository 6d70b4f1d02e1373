/// What `decode-worker` is told of how to read.
package struct WorkerOptions: Sendable {
    /// One of the engine's profiles.
    package var profile = "live"

    /// The model's folder or file.
    package var model: String?

    /// The folder of PocketSphinx's model, by which words are timed that another engine reads.
    package var timingModel: String?

    /// In place of the model's own.
    package var languageModel: String?
    /// A pronouncing dictionary, in place of the model's own.
    package var dictionary: String?

    /// A person's words and phrases, or a grammar.
    package var vocabulary: String?

    /// The archive's folder, where there may be words that people have put right; nil: these do not count.
    package var learned: String?

    /// Where is kept what can be made again.
    package var cache = "."
    /// What the words are likely to be.
    package var hint = Configuration.Recognizer.Hint.dictation

    /// Takes what a person should know of their vocabulary, a line at a time.
    package var tell: @Sendable (String) -> Void = { _ in }

    /// The defaults.
    package init() {}

    /// What was learned from corrections, as a vocabulary; nil where nothing was.
    func learnedWords() -> String? {
        learned.flatMap { LearnedVocabulary(storage: $0).inUse(tell) }
    }
}
