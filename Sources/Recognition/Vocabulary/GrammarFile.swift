/// A JSGF grammar for the sentences to recognize. PocketSphinx parses the rules; this type finds their words, sizes
/// and undefined rules.
package struct GrammarFile: Hashable, Sendable {
    private struct Token: Hashable, Sendable {
        var text: String
        var line: Int
        var isWord: Bool
    }

    /// All tokens, including spaces and comments. Joined, they are the file's text.
    private var tokens: [Token] = []

    /// The delimiters of text that contains no words: comments, the header, weights, tags and rule names.
    private static let delimiters = [
        ("//", "\n"), ("/*", "*/"), ("#JSGF", ";"), ("/", "/"), ("{", "}"), ("<", ">"),
    ]

    /// Returns whether a text is a grammar rather than a list of words.
    package static func isGrammar(_ text: String) -> Bool {
        text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }.hasPrefix("#JSGF")
    }

    /// Tokenizes a grammar. Accepts any text.
    ///
    /// - Parameter text: the grammar in JSGF.
    package init(_ text: String) {
        var rest = text[...]
        var line = 1
        /// Whether the parser is on the left side of a statement, before its `=`.
        var isHead = true
        while let first = rest.first {
            var token = ""
            var isWord = false
            if let (opening, closing) = Self.delimiters.first(where: { rest.hasPrefix($0.0) }) {
                token = opening
                rest = rest.dropFirst(opening.count)
                while !rest.isEmpty, !rest.hasPrefix(closing) { token.append(rest.removeFirst()) }
                token += rest.prefix(closing.count)
                rest = rest.dropFirst(closing.count)
            } else if first.isWhitespace || "=|()[]*+;\"".contains(first) {
                token = String(rest.removeFirst())
                if first == "=" { isHead = false }
                if first == ";" { isHead = true }
            } else {
                while let next = rest.first, !next.isWhitespace, !"=|()[]*+;\"/{<".contains(next) {
                    token.append(rest.removeFirst())
                }
                // `public`, `grammar name` and `import` are not spoken.
                isWord = !isHead
            }
            tokens.append(Token(text: token, line: line, isWord: isWord))
            line += token.count { $0.isNewline }
        }
    }

    struct Rule {
        /// The number of words, brackets, alternatives, repetitions and rule names.
        var nodes = 0
        /// The maximum depth of brackets.
        var depth = 0
        /// The rules that this rule uses, with the depth of the enclosing brackets; one entry per use.
        var names: [(name: String, bracketDepth: Int)] = []
    }

    /// The rules by their unqualified names. Rules with the same name are merged.
    var rules: [String: Rule] {
        var rules: [String: Rule] = [:]
        var (ruleName, isHead, depth) = ("", true, 0)
        for token in tokens {
            let first = token.text.first ?? " "
            if isHead {
                if first == "<" { ruleName = Self.localName(token.text) }
                if token.text == "=" { (isHead, depth) = (false, 0) }
                continue
            }
            if token.text == ";" {
                (ruleName, isHead) = ("", true)
                continue
            }
            var rule = rules.removeValue(forKey: ruleName) ?? Rule()
            if "([".contains(first) { depth += 1 }
            if ")]".contains(first) { depth -= 1 }
            if first == "<" { rule.names.append((Self.localName(token.text), max(0, depth))) }
            if token.isWord && !token.text.isEmpty || "<([|*+".contains(first) { rule.nodes += 1 }
            rule.depth = max(rule.depth, depth)
            rules[ruleName] = rule
        }
        return rules
    }

    var imports: Bool { tokens.contains { $0.text == "import" && !$0.isWord } }

    /// Converts `<grammar.rule>` to `<rule>`.
    private static func localName(_ name: String) -> String {
        "<" + (name.dropFirst().split(separator: ".").last.map(String.init) ?? name)
    }

    /// The unique words, in file order.
    var words: [(word: String, line: Int)] {
        var seen: Set<String> = []
        return tokens.filter { $0.isWord && !$0.text.isEmpty && seen.insert($0.text).inserted }
            .map { ($0.text, $0.line) }
    }

    /// The rules that are used but not defined, which the decoder silently skips. Empty if the grammar imports rules.
    package var undefined: [(rule: String, line: Int)] {
        let rules = tokens.enumerated().filter { $0.element.text.hasPrefix("<") }
        let defined = Set(
            rules.filter { index, _ in
                tokens[(index + 1)...].first { !$0.text.allSatisfy(\.isWhitespace) }?.text == "="
            }.map(\.element.text))
        if imports { return [] }
        return rules.map { ($0.element.text, $0.element.line) }
            .filter { !defined.contains($0.0) && $0.0 != "<NULL>" && $0.0 != "<VOID>" }
    }

    /// Returns the grammar with its words replaced by the decoder's names for them.
    func text(naming names: [String: String]) -> String {
        tokens.map { $0.isWord ? names[$0.text] ?? $0.text : $0.text }.joined()
    }
}
