import Synchronization

/// What is known about the speech: words and phrases to prefer.
public final class AnalysisContext: Sendable {
    /// A group of phrases.
    public struct ContextualStringsTag: Hashable, Sendable {
        /// Its name.
        public let rawValue: String

        /// - Parameter rawValue: any name.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// Phrases for all speech.
        public static let general = ContextualStringsTag("general")
    }

    private let strings = Mutex<[ContextualStringsTag: [String]]>([:])
    /// Lines of a vocabulary, for the classic interface.
    let vocabulary: String

    /// Creates an empty context.
    public init() { vocabulary = "" }

    init(contextualStrings: [String], vocabulary: String) {
        self.vocabulary = vocabulary
        strings.withLock { $0[.general] = contextualStrings }
    }

    /// Words and phrases that recognition prefers, by tag; all tags are used. Words that the dictionary lacks are
    /// pronounced by eSpeak NG. Strings with anything other than words are ignored.
    public var contextualStrings: [ContextualStringsTag: [String]] {
        get { strings.withLock { $0 } }
        set { strings.withLock { $0 = newValue } }
    }

    /// The text of a vocabulary file; empty without phrases.
    var vocabularyText: String {
        let phrases = contextualStrings.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap(\.value)
        // A phrase is a line; `=`, `*` and `#` would have a meaning.
        let lines = phrases.map { phrase in
            phrase.split { $0.isWhitespace || "=*#<>|".contains($0) }.joined(separator: " ")
        }.filter { !$0.isEmpty }
        return (lines + [vocabulary]).filter { !$0.isEmpty }.joined(separator: "\n")
    }
}
