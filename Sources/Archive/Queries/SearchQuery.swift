import Core

/// What a person typed, as a query of the full-text index.
///
/// Every word is quoted, so nothing in it is syntax. All must occur; the last may be the start of a word, since it may
/// still be being typed, but not a single Latin letter or digit, which half of all words begin with.
struct SearchQuery {
    /// In the syntax of FTS5, or nil where there is no word in it.
    let expression: String?

    /// The same for each word alone.
    let phrases: [String]

    /// Whom `speaker:A` or `speaker:Anna` names, in lower case; nil where nobody is named. In a name `_` stands for a space.
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
        let isBeginning = last.count > 1 || last.contains { !$0.isASCII }
        if isBeginning, let last = phrases.popLast() { phrases.append(last + "*") }
        self.phrases = phrases
        expression = phrases.isEmpty ? nil : phrases.joined(separator: " ")
    }

    private static func speaker(named word: Substring) -> String? {
        let (prefix, word) = ("speaker:", word.lowercased())
        guard word.hasPrefix(prefix) else { return nil }
        let name = word.dropFirst(prefix.count).split(separator: "_").joined(separator: " ")
        return name.isEmpty ? nil : name
    }

    /// A phrase of FTS5; a quote inside it is written twice.
    private static func quoted(_ word: Substring.UnicodeScalarView) -> String {
        // Scalar by scalar: a combining mark after a quote makes it another Character, but not other bytes.
        "\"" + word.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
    }

    /// Letters, digits and private characters, as the tokenizer `unicode61` sees it.
    private static func isToken(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
        case .decimalNumber, .letterNumber, .otherNumber, .privateUse: true
        default: false
        }
    }
}
