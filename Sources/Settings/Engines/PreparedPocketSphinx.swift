import Core
import Recognition
import System

/// Makes the person's vocabulary ready, where there is one, and then loads the engine: all of it in the worker's process, so
/// that neither can reach a recording.
struct PreparedPocketSphinx: RecognizerProvider {
    let options: WorkerOptions
    let profile: DecoderProfile

    func open() throws(DeviceError) -> any Recognizer {
        let model = PocketSphinxModel(
            folder: options.model ?? PocketSphinxModel.debian, languageModel: options.languageModel,
            dictionary: options.dictionary)
        try model.check()
        let learned = options.hint == .confirmation ? nil : options.learnedWords()
        // The lines are gone, and what was made of them is to be gone as well.
        if learned == nil, options.hint != .confirmation {
            try? VocabularyPreparation.removeLearned(from: options.cache)
        }
        guard let vocabulary = try vocabularyOfHint() else {
            let prepared = learned.map { learnedModel(model, $0) } ?? model
            return try PocketSphinxRecognizer(model: prepared, profile: profileOfHint(isGrammar: false))
        }
        let (prepared, outcome) = try model.prepare(vocabulary, and: learned, keptIn: options.cache)
        for problem in outcome.report?.problems ?? [] {
            options.tell("\(vocabulary):\(problem.line): \(problem.reason)")
        }
        return try PocketSphinxRecognizer(
            model: prepared, profile: profileOfHint(isGrammar: outcome.grammar != nil))
    }

    /// The model with what was learned; without it where nothing of that can be heard: a recording must not fail for a word.
    private func learnedModel(_ model: PocketSphinxModel, _ learned: String) -> PocketSphinxModel {
        do throws(DeviceError) {
            return try model.prepare(nil, and: learned, keptIn: options.cache).model
        } catch {
            options.tell(error.message)
            return model
        }
    }

    private func profileOfHint(isGrammar: Bool) -> DecoderProfile {
        if isGrammar { return .confirmation }
        return options.hint == .search ? .search : profile
    }

    /// The person's vocabulary; where a yes or no is awaited, a grammar of that in place of any but a grammar.
    private func vocabularyOfHint() throws(DeviceError) -> String? {
        guard options.hint == .confirmation else { return options.vocabulary }
        if let vocabulary = options.vocabulary {
            let text = try content(ofFile: vocabulary, limit: VocabularyFile.largest)
            if GrammarFile.isGrammar(String(decoding: text, as: UTF8.self)) { return vocabulary }
        }
        let path = "\(options.cache)/confirmation.gram"
        if (try? content(ofFile: path)) != Array(ConfirmationGrammar.text.utf8) {
            try makeFolder(options.cache)
            try durableReplace(path: path, with: ConfirmationGrammar.text)
        }
        return path
    }
}
