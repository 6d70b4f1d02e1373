import Core
import FoundationEssentials
import Recognition
import System

/// Prepares language models that ``SFCustomLanguageModelData`` exported.
public enum SFSpeechLanguageModel {
    /// A prepared language model.
    public struct Configuration: Hashable, Sendable {
        /// The prepared model.
        public let languageModel: URL
        /// Has no effect: pronunciations are in the language model.
        public let vocabulary: URL?

        /// - Parameters:
        ///   - languageModel: where to write the prepared model.
        ///   - vocabulary: has no effect.
        public init(languageModel: URL, vocabulary: URL? = nil) {
            self.languageModel = languageModel
            self.vocabulary = vocabulary
        }
    }

    /// Checks exported data and writes it where a request finds it.
    ///
    /// - Parameters:
    ///   - asset: a file by ``SFCustomLanguageModelData/export(to:)``, or any vocabulary file of Fieldscribe.
    ///   - configuration: where to write the prepared model.
    ///   - ignoresCache: has no effect.
    /// - Throws: ``SFSpeechError`` with `malformedSupplementalModel`, naming the line.
    public static func prepareCustomLanguageModel(
        for asset: URL, configuration: Configuration, ignoresCache: Bool = false
    ) async throws {
        let text = try text(of: asset)
        if !GrammarFile.isGrammar(text), let problem = VocabularyFile(text).problems.first {
            throw SFSpeechError(
                .malformedSupplementalModel, "\(asset.path): line \(problem.line): \(problem.reason)")
        }
        do { try durableReplace(path: configuration.languageModel.path, with: text) } catch {
            throw SFSpeechError(error, orElse: .malformedSupplementalModel)
        }
    }

    static func text(of url: URL) throws -> String {
        do {
            return String(decoding: try content(ofFile: url.path, limit: VocabularyFile.largest), as: UTF8.self)
        } catch { throw SFSpeechError(error, orElse: .malformedSupplementalModel) }
    }
}
