import Core
import System

/// Prepares the vocabulary and the learned words, if any, and then loads PocketSphinx. The recorder does both in the
/// worker's process, so that a crash cannot harm a recording.
package struct PocketSphinxProvider: RecognizerProvider {
    private let options: WorkerOptions
    private let profile: DecoderProfile

    /// - Throws: `DeviceError` with `unsupported` if PocketSphinx does not have the profile.
    package init(options: WorkerOptions) throws(DeviceError) {
        guard let profile = DecoderProfile.all.first(where: { $0.name == options.profile }) else {
            throw options.missingProfileError("pocketsphinx", DecoderProfile.all.map(\.name))
        }
        self.options = options
        self.profile = profile
    }

    private var cache: String { options.cache ?? "." }

    package func open() throws(DeviceError) -> any Recognizer {
        let model = PocketSphinxModel(
            folder: options.model ?? PocketSphinxModel.debian, languageModel: options.languageModel,
            dictionary: options.dictionary)
        try model.check()
        let learned = options.hint == .confirmation ? nil : options.learnedWords()
        // If the learned words were deleted, the files made from them must be deleted as well.
        if learned == nil, options.hint != .confirmation, let cache = options.cache {
            try? VocabularyPreparation.removeLearned(from: cache)
        }
        guard let vocabulary = try vocabularyForHint() else {
            return try recognizer(learned.map { learnedModel(model, $0) } ?? model)
        }
        do throws(DeviceError) {
            let (prepared, report) = try model.prepare(vocabulary, and: learned, cachedIn: cache)
            for problem in report?.problems ?? [] { options.report("\(vocabulary):\(problem.line): \(problem.reason)") }
            return try recognizer(prepared)
        } catch {
            guard error.code == .unsupported, !options.needsUsableVocabulary else { throw error }
            options.report(error.message)
            return try recognizer(model)
        }
    }

    /// Returns the model with the learned words, or the model alone if they cannot be used. They must never make a
    /// recording fail.
    private func learnedModel(_ model: PocketSphinxModel, _ learned: String) -> PocketSphinxModel {
        do throws(DeviceError) {
            return try model.prepare(nil, and: learned, cachedIn: cache).model
        } catch {
            options.report(error.message)
            return model
        }
    }

    private func recognizer(_ model: PocketSphinxModel) throws(DeviceError) -> PocketSphinxRecognizer {
        if case .grammar = model.addition { return try PocketSphinxRecognizer(model: model, profile: .confirmation) }
        return try PocketSphinxRecognizer(model: model, profile: options.hint == .search ? .search : profile)
    }

    /// Returns the path of the user's vocabulary; nil if there is none. With the hint `confirmation`, returns the path
    /// of the user's grammar or, if there is none, of a file with `ConfirmationGrammar`.
    private func vocabularyForHint() throws(DeviceError) -> String? {
        guard options.hint == .confirmation else { return options.vocabulary }
        if let vocabulary = options.vocabulary {
            let text = try content(ofFile: vocabulary, limit: VocabularyFile.maximumBytes)
            if GrammarFile.isGrammar(String(decoding: text, as: UTF8.self)) { return vocabulary }
        }
        let path = "\(cache)/confirmation.gram"
        if (try? content(ofFile: path)) != Array(ConfirmationGrammar.text.utf8) {
            try makeFolder(cache)
            try durableReplace(path: path, with: ConfirmationGrammar.text)
        }
        return path
    }
}
