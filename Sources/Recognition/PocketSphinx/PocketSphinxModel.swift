import Core
import Glibc
import System

/// A model folder: acoustic model, language model and pronouncing dictionary.
package struct PocketSphinxModel: Hashable, Sendable {
    /// The folder of Debian's package pocketsphinx-en-us.
    package static let debian = "/usr/share/pocketsphinx/model/en-us"

    package var name: String
    var acousticModel: String
    package var languageModel: String
    package var dictionary: String

    /// The files that a vocabulary adds to the model.
    enum Addition: Hashable, Sendable {
        /// A second language model in ARPA format.
        case phrases(String)
        /// A JSGF grammar, which replaces the language model.
        case grammar(String)
    }

    var addition: Addition?

    /// Finds the model in `folder`, whose name determines the file names as in Debian's packages: `en-us/en-us`
    /// (acoustic), `en-us/en-us.lm.bin` and `en-us/cmudict-en-us.dict`. If one does not exist, the only other file of
    /// its kind is used.
    package init(folder: String, languageModel: String? = nil, dictionary: String? = nil) {
        let folder = withoutTrailingSlash(folder)
        name = lastName(of: folder)
        let names = (try? System.names(inFolder: folder)) ?? []
        acousticModel = Self.choose("\(name)", orOnlyOf: names, in: folder) { name in
            access("\(folder)/\(name)/mdef", F_OK) == 0
        }
        self.languageModel =
            languageModel
            ?? Self.choose("\(name).lm.bin", orOnlyOf: names, in: folder) { name in
                [".lm.bin", ".lm", ".lm.gz", ".lm.DMP", ".lm.dmp"].contains { name.hasSuffix($0) }
                    && !name.contains("phone")
            }
        self.dictionary =
            dictionary
            ?? Self.choose("cmudict-\(name).dict", orOnlyOf: names, in: folder) { name in
                [".dict", ".dic"].contains { name.hasSuffix($0) }
            }
    }

    /// Returns the path of the only other file that fits if the usual one does not exist; otherwise the usual path.
    private static func choose(
        _ usual: String, orOnlyOf names: [String], in folder: String, where fits: (String) -> Bool
    ) -> String {
        let others = names.contains(usual) ? [] : names.filter(fits)
        return "\(folder)/\(others.count == 1 ? others[0] : usual)"
    }

    /// Whether the folder contains a model of this kind, complete or not.
    package var isThere: Bool { access("\(acousticModel)/mdef", F_OK) == 0 }

    static let acousticFiles = ["mdef", "means", "variances", "transition_matrices", "feat.params"]
    /// The files with the mixture weights, of which one suffices.
    static let weightFiles = ["sendump", "mixture_weights"]

    /// Checks that every file exists and is readable.
    ///
    /// - Parameter readsText: whether the language model is also needed.
    /// - Throws: `DeviceError` with `missing` or `denied` for the file.
    package func check(readsText: Bool = true) throws(DeviceError) {
        let parts = Self.acousticFiles.map { "\(acousticModel)/\($0)" }
        let weights = Self.weightFiles.map { "\(acousticModel)/\($0)" }
        let neededWeights = weights.contains { access($0, R_OK) == 0 } ? [] : [weights[0]]
        let texts = (readsText ? [languageModel] : []) + [dictionary]
        for path in parts + neededWeights + texts {
            try checkModelFile(
                path, "the recognizer's model", missing: "lacks this file",
                remedy: "install the package pocketsphinx-en-us, or name a complete model with recognizer.model")
        }
    }

    /// Returns up to `most` words from the beginning of the dictionary; empty if it cannot be read.
    func firstWords(_ most: Int) -> [String] {
        let enough = 16_384
        guard let bytes = try? beginning(ofFile: dictionary, count: enough) else { return [] }
        let lines = bytes.split(separator: 0x0A)
        // The last line may be truncated; comments begin with ;; or ##.
        return (bytes.count == enough ? lines.dropLast() : lines).compactMap { line -> String? in
            let word = line.prefix { $0 != 0x20 && $0 != 0x09 }
            guard !word.isEmpty, !word.starts(with: [0x3B, 0x3B]), !word.starts(with: [0x23, 0x23]) else { return nil }
            return String(decoding: word, as: UTF8.self)
        }.prefix(most).map { $0 }
    }
}

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
