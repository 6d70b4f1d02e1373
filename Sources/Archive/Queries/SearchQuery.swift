/// A user's search words as an FTS5 query.
///
/// Every word is quoted, so none is syntax. All must occur. The last one also matches longer words, since it may still
/// be incomplete; a single Latin letter or digit does not, since half of all words begin with it.
struct SearchQuery {
    /// The FTS5 expression; nil if there are no words.
    let expression: String?
    /// An FTS5 expression for each word.
    let phrases: [String]
    /// The person that `speaker:A` or `speaker:Anna` names, in lower case; `_` stands for a space.
    let speaker: String?

    init(_ words: String) {
        let parts = words.split(whereSeparator: \.isWhitespace)
        let named = parts.map { Self.speaker(named: $0) }
        speaker = named.compactMap { $0 }.last
        let words = speaker == nil ? words : zip(parts, named).filter { $1 == nil }.map { $0.0 }.joined(separator: " ")
        var phrases = words.unicodeScalars
            .split { $0.properties.isWhitespace || $0.properties.generalCategory == .control }
            .filter { $0.contains(where: Self.isToken) }
            .map(Self.quoted)
        let last = words.unicodeScalars.reversed().drop { !Self.isToken($0) }.prefix { Self.isToken($0) }
        let matchesPrefix = last.count > 1 || last.contains { !$0.isASCII }
        if matchesPrefix, let last = phrases.popLast() { phrases.append(last + "*") }
        self.phrases = phrases
        expression = phrases.isEmpty ? nil : phrases.joined(separator: " ")
    }

    private static func speaker(named word: Substring) -> String? {
        let (prefix, word) = ("speaker:", word.lowercased())
        guard word.hasPrefix(prefix) else { return nil }
        let name = word.dropFirst(prefix.count).split(separator: "_").joined(separator: " ")
        return name.isEmpty ? nil : name
    }

    /// Returns an FTS5 phrase, with quotes in it doubled.
    private static func quoted(_ word: Substring.UnicodeScalarView) -> String {
        // Works on scalars: with a combining mark, a quote is a different `Character`, although its byte is the same.
        "\"" + word.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
    }

    /// Whether the tokenizer `unicode61` makes the scalar part of a token.
    private static func isToken(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
        case .decimalNumber, .letterNumber, .otherNumber, .privateUse: true
        default: false
        }
    }
}
