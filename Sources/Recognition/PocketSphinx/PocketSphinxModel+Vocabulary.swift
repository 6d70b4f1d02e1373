import Core

extension PocketSphinxModel {
    /// Returns the preparation of a user's vocabulary for this model.
    ///
    /// - Parameters:
    ///   - file: the vocabulary file; nil for learned words only.
    ///   - learned: the vocabulary learned from corrections; nil for none.
    ///   - folder: the folder for the result.
    /// - Throws: `DeviceError` with `damaged` if the acoustic model's phones cannot be read.
    package func preparation(
        of file: String?, and learned: String? = nil, keptIn folder: String
    ) throws(DeviceError) -> VocabularyPreparation {
        guard let sounds = ModelFolder.sounds(of: acousticModel) else {
            throw DeviceError(
                .damaged, "mdef", "\(acousticModel)/mdef: not a model definition",
                remedy: "see fieldscribe models")
        }
        return VocabularyPreparation(
            file: file, learned: learned, dictionary: dictionary, languageModel: languageModel,
            language: ModelFolder.language(of: name), sounds: sounds, folder: folder)
    }

    /// Prepares a vocabulary, or uses an earlier result. Returns this model with the vocabulary, and the outcome.
    package func prepare(
        _ file: String?, and learned: String? = nil, keptIn folder: String
    ) throws(DeviceError) -> (model: PocketSphinxModel, outcome: VocabularyPreparation.Outcome) {
        let outcome = try preparation(of: file, and: learned, keptIn: folder).prepare {
            [languageModel] () throws(DeviceError) in
            let own = try LanguageModelFile(path: languageModel)
            return { own.probability(of: $0, after: $1) }
        }
        var model = self
        model.dictionary = outcome.dictionary
        if let languageModel = outcome.languageModel { model.addition = .phrases(languageModel) }
        if let grammar = outcome.grammar { model.addition = .grammar(grammar) }
        return (model, outcome)
    }
}
