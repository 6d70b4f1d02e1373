import Synchronization

/// Prior knowledge about the speech: words and phrases to prefer.
public final class AnalysisContext: Sendable {
    /// Identifies a group of phrases.
    public struct ContextualStringsTag: Hashable, Sendable {
        /// The tag's name.
        public let rawValue: String

        /// Creates a tag with any name.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// The tag for phrases that can occur in any speech.
        public static let general = ContextualStringsTag("general")
    }

    private let strings = Mutex<[ContextualStringsTag: [String]]>([:])
    /// The content of a vocabulary file; empty except in the classic interface.
    let vocabulary: String

    /// Creates an empty context.
    public init() { vocabulary = "" }

    init(contextualStrings: [String], vocabulary: String) {
        self.vocabulary = vocabulary
        strings.withLock { $0[.general] = contextualStrings }
    }

    /// Words and phrases that recognition prefers, by tag; all tags are used. eSpeak NG provides the pronunciations of
    /// words that are not in the dictionary. Strings that are not words are ignored.
    public var contextualStrings: [ContextualStringsTag: [String]] {
        get { strings.withLock { $0 } }
        set { strings.withLock { $0 = newValue } }
    }

    /// The phrases and `vocabulary` as the content of a vocabulary file; empty if there are none.
    var vocabularyText: String {
        let phrases = contextualStrings.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap(\.value)
        // Each phrase is a line. Characters that have a meaning in vocabulary files become spaces.
        let lines = phrases.map { phrase in
            phrase.split { $0.isWhitespace || "=*#<>|".contains($0) }.joined(separator: " ")
        }.filter { !$0.isEmpty }
        return (lines + [vocabulary]).filter { !$0.isEmpty }.joined(separator: "\n")
    }
}
