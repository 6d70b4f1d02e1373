import Core

/// The kind of words to expect.
package enum RecognitionHint: String, Sendable, CaseIterable { case dictation, search, confirmation }

/// How an engine is opened: on a thread, or by `decode-worker` in a process.
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
    /// Whether a vocabulary without a word that can be heard is an error; if not, it is ignored. For threads only.
    package var needsUsableVocabulary = true

    /// The archive's folder, for words learned from corrections; nil to ignore them.
    package var learned: String?

    /// The folder for files that can be recreated; nil for the current one.
    package var cache: String?
    /// The kind of words to expect.
    package var hint = RecognitionHint.dictation

    /// Gets each message about the user's vocabulary.
    package var tell: @Sendable (String) -> Void = { _ in }

    /// The defaults.
    package init() {}

    /// The arguments of the program `fieldscribe` for a worker of an engine with these options.
    package func arguments(engine: String) -> [String] {
        let options: [(name: String, value: String?)] = [
            ("--engine", engine), ("--profile", profile), ("--model", model), ("--timing-model", timingModel),
            ("--language-model", languageModel), ("--dictionary", dictionary), ("--vocabulary", vocabulary),
            ("--learned", learned), ("--cache", cache), ("--hint", hint.rawValue),
        ]
        return ["decode-worker"] + options.flatMap { name, value in value.map { [name, $0] } ?? [] }
    }

    func lacksProfile(_ engine: String, _ profiles: [String]) -> DeviceError {
        DeviceError(
            .unsupported, "decode-worker", on: engine, "has no profile \(profile)",
            remedy: "choose one of \(profiles.joined(separator: ", "))")
    }

    /// The words learned from corrections, as a vocabulary; nil if there are none.
    func learnedWords() -> String? {
        learned.flatMap { LearnedVocabulary(storage: $0).inUse(tell) }
    }
}
