import Core

extension PocketSphinxModel {
    /// How a person's vocabulary is made ready for this model.
    ///
    /// - Parameters:
    ///   - file: it; nil for what was learned alone.
    ///   - learned: the text of what was learned from corrections; nil for nothing.
    ///   - folder: where it is kept.
    /// - Throws: `DeviceError` with `damaged` where the acoustic model does not tell its sounds.
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

    /// Makes a vocabulary ready, or takes what was made before, and tells what there is to say of it.
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
