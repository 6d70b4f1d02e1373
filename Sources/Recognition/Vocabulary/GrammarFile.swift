/// A JSGF grammar of all sentences to recognize. The library parses its rules; the words must be in the dictionary.
package struct GrammarFile: Hashable, Sendable {
    private struct Piece: Hashable, Sendable {
        var text: String
        var line: Int
        var isWord: Bool
    }

    /// Tokens and the text between them; joined, they give the file's text.
    private var pieces: [Piece] = []

    private static let skipped = [
        ("//", "\n"), ("/*", "*/"), ("#JSGF", ";"), ("/", "/"), ("{", "}"), ("<", ">"),
    ]

    /// Whether a text is a grammar rather than a list of words.
    package static func isGrammar(_ text: String) -> Bool {
        text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }.hasPrefix("#JSGF")
    }

    /// Tokenizes a grammar, without rejecting anything.
    ///
    /// - Parameter text: JSGF.
    package init(_ text: String) {
        var rest = text[...]
        var line = 1
        /// Whether the parser is between the start of a statement and its content.
        var isHead = true
        while let first = rest.first {
            var piece = ""
            var isWord = false
            if let (opening, closing) = Self.skipped.first(where: { rest.hasPrefix($0.0) }) {
                piece = opening
                rest = rest.dropFirst(opening.count)
                while !rest.isEmpty, !rest.hasPrefix(closing) { piece.append(rest.removeFirst()) }
                piece += rest.prefix(closing.count)
                rest = rest.dropFirst(closing.count)
            } else if first.isWhitespace || "=|()[]*+;\"".contains(first) {
                piece = String(rest.removeFirst())
                if first == "=" { isHead = false }
                if first == ";" { isHead = true }
            } else {
                while let next = rest.first, !next.isWhitespace, !"=|()[]*+;\"/{<".contains(next) {
                    piece.append(rest.removeFirst())
                }
                // `public`, `grammar name` and `import` are not spoken.
                isWord = !isHead
            }
            pieces.append(Piece(text: piece, line: line, isWord: isWord))
            line += piece.count { $0.isNewline }
        }
    }

    struct Rule {
        /// The number of words, brackets, alternatives and rule names.
        var places = 0
        /// The depth of nested brackets.
        var depth = 0
        /// The rules that this rule uses, one entry per use, with the bracket depth.
        var names: [(name: String, inside: Int)] = []
    }

    /// The rules by name, without the grammar's name; rules with the same name are merged.
    var rules: [String: Rule] {
        var rules: [String: Rule] = [:]
        var (ruleName, isHead, open) = ("", true, 0)
        for piece in pieces {
            let first = piece.text.first ?? " "
            if isHead {
                if first == "<" { ruleName = Self.bare(piece.text) }
                if piece.text == "=" { (isHead, open) = (false, 0) }
                continue
            }
            if piece.text == ";" {
                (ruleName, isHead) = ("", true)
                continue
            }
            var rule = rules.removeValue(forKey: ruleName) ?? Rule()
            if "([".contains(first) { open += 1 }
            if ")]".contains(first) { open -= 1 }
            if first == "<" { rule.names.append((Self.bare(piece.text), max(0, open))) }
            if piece.isWord && !piece.text.isEmpty || "<([|*+".contains(first) { rule.places += 1 }
            rule.depth = max(rule.depth, open)
            rules[ruleName] = rule
        }
        return rules
    }

    var imports: Bool { pieces.contains { $0.text == "import" && !$0.isWord } }

    /// Converts `<grammar.rule>` to `<rule>`.
    private static func bare(_ name: String) -> String {
        "<" + (name.dropFirst().split(separator: ".").last.map(String.init) ?? name)
    }

    /// The unique words, in the order of the file.
    var words: [(word: String, line: Int)] {
        var seen: Set<String> = []
        return pieces.filter { $0.isWord && !$0.text.isEmpty && seen.insert($0.text).inserted }
            .map { ($0.text, $0.line) }
    }

    /// The rules that are used but not defined, which the decoder silently skips. Empty if the grammar imports rules.
    package var undefined: [(rule: String, line: Int)] {
        let rules = pieces.enumerated().filter { $0.element.text.hasPrefix("<") }
        let defined = Set(
            rules.filter { index, _ in
                pieces[(index + 1)...].first { !$0.text.allSatisfy(\.isWhitespace) }?.text == "="
            }.map(\.element.text))
        if imports { return [] }
        return rules.map { ($0.element.text, $0.element.line) }
            .filter { !defined.contains($0.0) && $0.0 != "<NULL>" && $0.0 != "<VOID>" }
    }

    /// Returns the grammar with the decoder's names for its words.
    func text(naming names: [String: String]) -> String {
        pieces.map { $0.isWord ? names[$0.text] ?? $0.text : $0.text }.joined()
    }
}
