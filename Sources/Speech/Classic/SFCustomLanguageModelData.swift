import FoundationEssentials
import System

/// Data for a language model: phrases with their frequencies, templates and pronunciations.
///
///     let data = SFCustomLanguageModelData(locale: Locale(identifier: "en_US"), identifier: "shop", version: "1") {
///         SFCustomLanguageModelData.PhraseCount(phrase: "shea butter", count: 20)
///         SFCustomLanguageModelData.CustomPronunciation(grapheme: "Koudougou", phonemes: ["K UW D UW G UW"])
///         SFCustomLanguageModelData.PhraseCountsFromTemplates(classes: ["person": ["Awa", "Bintou"]]) {
///             SFCustomLanguageModelData.TemplatePhraseCountGenerator.Template("ask <person>", count: 10)
///         }
///     }
///     try await data.export(to: url)
public final class SFCustomLanguageModelData: Sendable {
    /// A part of the data.
    public protocol DataInsertable: Sendable {
        /// The part's lines in the vocabulary file. Counts are per thousand words.
        var lines: [String] { get }
    }

    /// A phrase and its frequency.
    public struct PhraseCount: DataInsertable, Hashable, Sendable {
        /// The phrase.
        public let phrase: String
        /// How often the phrase is said per thousand words, from 1 to 1,000. Apple's count is relative to the data
        /// instead.
        public let count: Int

        /// Creates a phrase.
        public init(phrase: String, count: Int) {
            self.phrase = phrase
            self.count = count
        }

        /// The part's lines in the vocabulary file.
        public var lines: [String] { ["\(phrase) * \(count)"] }
    }

    /// The pronunciations of a word.
    public struct CustomPronunciation: DataInsertable, Hashable, Sendable {
        /// The word.
        public let grapheme: String
        /// One or more pronunciations in the phones of the model's dictionary, such as `K UW D UW G UW`. Apple uses
        /// X-SAMPA.
        public let phonemes: [String]

        /// Creates a pronunciation.
        public init(grapheme: String, phonemes: [String]) {
            self.grapheme = grapheme
            self.phonemes = phonemes
        }

        /// The part's lines in the vocabulary file.
        public var lines: [String] { ["\(grapheme) = \(phonemes.joined(separator: " | "))"] }
    }

    /// Templates and the classes that they use.
    public struct PhraseCountsFromTemplates: DataInsertable, Hashable, Sendable {
        private let classes: [String: [String]]
        private let templates: [TemplatePhraseCountGenerator.Template]

        /// Creates templates with classes.
        ///
        /// - Parameters:
        ///   - classes: The members of each class. A template refers to a class as `<name>`.
        ///   - templates: The templates.
        public init(
            classes: [String: [String]],
            @TemplateBuilder templates: () -> [TemplatePhraseCountGenerator.Template]
        ) {
            self.classes = classes
            self.templates = templates()
        }

        /// The part's lines in the vocabulary file.
        public var lines: [String] {
            classes.sorted { $0.key < $1.key }.map { "<\($0.key)> = \($0.value.joined(separator: " | "))" }
                + templates.map { "\($0.body) * \($0.count)" }
        }
    }

    /// The namespace for phrase templates.
    public enum TemplatePhraseCountGenerator {
        /// A phrase that contains classes.
        public struct Template: Hashable, Sendable {
            /// The words and classes, such as `ask <person> about it`.
            public let body: String
            /// How often the template's phrases are said per thousand words, for all members of its classes together.
            public let count: Int

            /// Creates a template.
            public init(_ body: String, count: Int) {
                self.body = body
                self.count = count
            }
        }
    }

    /// Builds the data from its parts.
    @resultBuilder public enum DataInsertableBuilder {
        /// Joins parts.
        public static func buildBlock(_ parts: [any DataInsertable]...) -> [any DataInsertable] {
            parts.flatMap(\.self)
        }
        /// Accepts a part.
        public static func buildExpression(_ part: any DataInsertable) -> [any DataInsertable] { [part] }
        /// Joins the parts of a loop.
        public static func buildArray(_ parts: [[any DataInsertable]]) -> [any DataInsertable] { parts.flatMap(\.self) }
        /// Accepts the parts in an `if` without `else`.
        public static func buildOptional(_ parts: [any DataInsertable]?) -> [any DataInsertable] { parts ?? [] }
        /// Accepts the parts in an `if` branch.
        public static func buildEither(first parts: [any DataInsertable]) -> [any DataInsertable] { parts }
        /// Accepts the parts in an `else` branch.
        public static func buildEither(second parts: [any DataInsertable]) -> [any DataInsertable] { parts }
    }

    /// Builds a list of templates.
    @resultBuilder public enum TemplateBuilder {
        /// Joins templates.
        public static func buildBlock(
            _ templates: TemplatePhraseCountGenerator.Template...
        ) -> [TemplatePhraseCountGenerator.Template] { templates }
    }

    /// The language.
    public let locale: Locale
    /// The name of the data.
    public let identifier: String
    /// The version of the data.
    public let version: String
    private let parts: [any DataInsertable]

    /// Creates data for a language model.
    ///
    /// - Parameters:
    ///   - locale: The language.
    ///   - identifier: The name of the data.
    ///   - version: The version of the data.
    ///   - builder: The phrases, templates and pronunciations.
    public init(
        locale: Locale, identifier: String, version: String,
        @DataInsertableBuilder builder: () -> [any DataInsertable] = { [] }
    ) {
        self.locale = locale
        self.identifier = identifier
        self.version = version
        parts = builder()
    }

    /// Writes the data to a vocabulary file, for ``SFSpeechLanguageModel`` and `fieldscribe vocabulary`.
    ///
    /// - Throws: ``SFSpeechError`` if the file cannot be written.
    public func export(to url: URL) async throws {
        let header = "# \(identifier) \(version), \(locale.identifier)".split(whereSeparator: \.isNewline)
            .joined(separator: " ")
        let text = ([header] + parts.flatMap(\.lines)).map { $0 + "\n" }.joined()
        do { try durableReplace(path: url.path, with: text) } catch {
            throw SFSpeechError(error, orElse: .malformedSupplementalModel)
        }
    }
}
