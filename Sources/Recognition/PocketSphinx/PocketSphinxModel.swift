import Core
import Glibc
import System

/// A folder with an acoustic model, a language model and a pronouncing dictionary.
package struct PocketSphinxModel: Hashable, Sendable {
    /// The folder of Debian's package pocketsphinx-en-us.
    package static let debian = "/usr/share/pocketsphinx/model/en-us"

    package var name: String
    /// The language from the file LANGUAGE or the folder's name, such as `en-US`; empty if unknown.
    let language: String
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

    /// Finds the model in `folder`, whose name determines the file names, as in Debian's packages: `en-us/en-us`
    /// (acoustic), `en-us/en-us.lm.bin` and `en-us/cmudict-en-us.dict`. If there is no file with such a name, uses the
    /// only other file of its kind.
    package init(folder: String, languageModel: String? = nil, dictionary: String? = nil) {
        let folder = withoutTrailingSlash(folder)
        name = lastName(of: folder)
        language = LanguageTag(ofFolder: folder)?.text ?? ModelFolder.language(of: name)
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

    /// Returns the path of `expectedName`, or of the only file that fits if there is no file with that name.
    private static func choose(
        _ expectedName: String, orOnlyOf names: [String], in folder: String, where fits: (String) -> Bool
    ) -> String {
        let others = names.contains(expectedName) ? [] : names.filter(fits)
        return "\(folder)/\(others.count == 1 ? others[0] : expectedName)"
    }

    /// Whether the folder contains a model of this kind, complete or not.
    package var exists: Bool { access("\(acousticModel)/mdef", F_OK) == 0 }

    static let acousticFiles = ["mdef", "means", "variances", "transition_matrices", "feat.params"]
    /// The files that contain the mixture weights; one of them suffices.
    static let weightFiles = ["sendump", "mixture_weights"]

    /// Checks that every file exists and is readable.
    ///
    /// - Parameter needsLanguageModel: whether the language model must also exist.
    /// - Throws: `DeviceError` with `missing` or `denied` for the file.
    package func check(needsLanguageModel: Bool = true) throws(DeviceError) {
        let parts = Self.acousticFiles.map { "\(acousticModel)/\($0)" }
        let weights = Self.weightFiles.map { "\(acousticModel)/\($0)" }
        let neededWeights = weights.contains { access($0, R_OK) == 0 } ? [] : [weights[0]]
        let texts = (needsLanguageModel ? [languageModel] : []) + [dictionary]
        for path in parts + neededWeights + texts {
            try checkModelFile(
                path, "the recognizer's model", missing: "lacks this file",
                remedy: "install the package pocketsphinx-en-us, or set recognizer.model to a complete model")
        }
    }

    /// Returns up to `maximumCount` words from the beginning of the dictionary; empty if it cannot be read.
    func firstWords(maximumCount: Int) -> [String] {
        let bytesToRead = 16_384
        guard let bytes = try? beginning(ofFile: dictionary, count: bytesToRead) else { return [] }
        let lines = bytes.split(separator: 0x0A)
        // The last line may be truncated; comments begin with ;; or ##.
        return (bytes.count == bytesToRead ? lines.dropLast() : lines).compactMap { line -> String? in
            let word = line.prefix { $0 != 0x20 && $0 != 0x09 }
            guard !word.isEmpty, !word.starts(with: [0x3B, 0x3B]), !word.starts(with: [0x23, 0x23]) else { return nil }
            return String(decoding: word, as: UTF8.self)
        }.prefix(maximumCount).map { $0 }
    }
}

extension PocketSphinxModel {
    /// Returns an object that prepares a user's vocabulary for this model.
    ///
    /// - Parameters:
    ///   - file: the vocabulary file; nil to use only learned words.
    ///   - learned: the vocabulary learned from corrections; nil if there is none.
    ///   - folder: the folder in which to cache the result.
    /// - Throws: `DeviceError` with `damaged` if the acoustic model's phones cannot be read.
    package func preparation(
        of file: String?, and learned: String? = nil, cachedIn folder: String
    ) throws(DeviceError) -> VocabularyPreparation {
        VocabularyPreparation(
            file: file, learned: learned, dictionary: dictionary, languageModel: languageModel,
            language: language, sounds: try sounds(), folder: folder)
    }

    /// Prepares a vocabulary, or reuses an earlier result. Returns this model with the vocabulary, and the report. The
    /// report is nil if an earlier result was reused.
    package func prepare(
        _ file: String?, and learned: String? = nil, cachedIn folder: String
    ) throws(DeviceError) -> (model: PocketSphinxModel, report: VocabularyReport?) {
        let prepared = try preparation(of: file, and: learned, cachedIn: folder).prepare {
            [languageModel] () throws(DeviceError) in
            let file = try LanguageModelFile(path: languageModel)
            return { file.probability(of: $0, after: $1) }
        }
        var model = self
        model.dictionary = prepared.dictionary
        model.addition = prepared.addition
        return (model, prepared.report)
    }
}
