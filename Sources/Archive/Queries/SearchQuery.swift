/// A user's search words as an FTS5 query.
///
/// Every word is quoted, so FTS5 treats none as an operator. A match contains all words. The last word also matches
/// longer words, because the user may still be typing it. A single ASCII letter or digit matches only itself, because
/// too many words begin with it.
struct SearchQuery {
    /// The FTS5 expression; nil if there are no words.
    let expression: String?
    let phrases: [String]
    /// The label or name after `speaker:`, in lower case, with spaces in place of `_`; nil if there is none.
    let speaker: String?

    init(_ words: String) {
        let terms = words.split(whereSeparator: \.isWhitespace)
        let speakers = terms.map { Self.speaker(in: $0) }
        speaker = speakers.compactMap { $0 }.last
        let words =
            speaker == nil ? words : zip(terms, speakers).filter { $1 == nil }.map { $0.0 }.joined(separator: " ")
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

    private static func speaker(in term: Substring) -> String? {
        let (prefix, term) = ("speaker:", term.lowercased())
        guard term.hasPrefix(prefix) else { return nil }
        let name = term.dropFirst(prefix.count).split(separator: "_").joined(separator: " ")
        return name.isEmpty ? nil : name
    }

    /// Returns an FTS5 phrase, with quotes in it doubled.
    private static func quoted(_ word: Substring.UnicodeScalarView) -> String {
        // Works on scalars: with a combining mark, a quote is a different `Character`, although its byte is the same.
        "\"" + word.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
    }

    /// Whether FTS5's tokenizer `unicode61` treats a scalar as part of a token.
    private static func isToken(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
        case .decimalNumber, .letterNumber, .otherNumber, .privateUse: true
        default: false
        }
    }
}
