import Core
import FoundationEssentials
import Recognition
import System

/// Prepares language models from data that ``SFCustomLanguageModelData`` exported.
public enum SFSpeechLanguageModel {
    /// A prepared language model.
    public struct Configuration: Hashable, Sendable {
        /// The prepared model's file.
        public let languageModel: URL
        /// Has no effect, because pronunciations are in the language model.
        public let vocabulary: URL?

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - languageModel: The file for the prepared model.
        ///   - vocabulary: Has no effect.
        public init(languageModel: URL, vocabulary: URL? = nil) {
            self.languageModel = languageModel
            self.vocabulary = vocabulary
        }
    }

    /// Checks exported data and writes it to the configuration's file.
    ///
    /// - Parameters:
    ///   - asset: A file from ``SFCustomLanguageModelData/export(to:)``, or any vocabulary file for Fieldscribe.
    ///   - configuration: The file for the prepared model.
    ///   - ignoresCache: Has no effect.
    /// - Throws: ``SFSpeechError`` with `malformedSupplementalModel`. If a line is invalid, the message has its number.
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
            return String(decoding: try content(ofFile: url.path, limit: VocabularyFile.maximumBytes), as: UTF8.self)
        } catch { throw SFSpeechError(error, orElse: .malformedSupplementalModel) }
    }
}
