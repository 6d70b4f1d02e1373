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
        VocabularyPreparation(
            file: file, learned: learned, dictionary: dictionary, languageModel: languageModel,
            language: ModelFolder.language(of: name), sounds: try sounds(), folder: folder)
    }

    /// Prepares a vocabulary, or uses an earlier result. Returns this model with the vocabulary, and the report; nil if
    /// an earlier result was used.
    package func prepare(
        _ file: String?, and learned: String? = nil, keptIn folder: String
    ) throws(DeviceError) -> (model: PocketSphinxModel, report: VocabularyReport?) {
        let prepared = try preparation(of: file, and: learned, keptIn: folder).prepare {
            [languageModel] () throws(DeviceError) in
            let own = try LanguageModelFile(path: languageModel)
            return { own.probability(of: $0, after: $1) }
        }
        var model = self
        model.dictionary = prepared.dictionary
        model.addition = prepared.addition
        return (model, prepared.report)
    }
}
