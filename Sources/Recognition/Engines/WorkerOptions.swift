import Core

/// The kind of speech to expect.
package enum RecognitionHint: String, Sendable, CaseIterable { case dictation, search, confirmation }

/// The options for opening an engine, on a thread or in a `decode-worker` process.
package struct WorkerOptions: Sendable {
    package var profile = "live"
    /// The path of the model's folder or file.
    package var model: String?
    /// The folder of the PocketSphinx model that determines the times of another engine's words.
    package var timingModel: String?
    /// The path of the language model to use instead of the model's own.
    package var languageModel: String?
    /// The path of the dictionary to use instead of the model's own.
    package var dictionary: String?

    /// The path of the file with the user's words and phrases or with a grammar.
    package var vocabulary: String?
    /// Whether a vocabulary without usable words is an error; otherwise it is ignored. Not passed to worker processes.
    package var needsUsableVocabulary = true

    /// The archive's folder, which contains the words learned from corrections; nil to ignore them.
    package var learned: String?

    /// The folder for files that can be recreated; nil for the current folder.
    package var cache: String?
    package var hint = RecognitionHint.dictation

    /// Receives each message about the user's vocabulary and the learned words.
    package var report: @Sendable (String) -> Void = { _ in }

    package init() {}

    /// Returns the arguments that make the program `fieldscribe` run as a worker with these options.
    package func arguments(engine: String) -> [String] {
        let options: [(name: String, value: String?)] = [
            ("--engine", engine), ("--profile", profile), ("--model", model), ("--timing-model", timingModel),
            ("--language-model", languageModel), ("--dictionary", dictionary), ("--vocabulary", vocabulary),
            ("--learned", learned), ("--cache", cache), ("--hint", hint.rawValue),
        ]
        return ["decode-worker"] + options.flatMap { name, value in value.map { [name, $0] } ?? [] }
    }

    func missingProfileError(_ engine: String, _ profiles: [String]) -> DeviceError {
        DeviceError(
            .unsupported, "decode-worker", on: engine, "has no profile \(profile)",
            remedy: "choose one of \(profiles.joined(separator: ", "))")
    }

    /// Returns the words learned from corrections, as the text of a vocabulary; nil if there are none.
    func learnedWords() -> String? {
        learned.flatMap { LearnedVocabulary(storage: $0).usedText(report) }
    }
}
