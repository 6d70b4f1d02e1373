import Core

/// A grammar in JSGF: all that may be said. Its rules are the library's to understand; its words must be in the dictionary.
package struct GrammarFile: Hashable, Sendable {
    private struct Piece: Hashable, Sendable {
        var text: String
        var line: Int
        var isWord: Bool
    }

    /// What is said, and what stands between: together they are the file.
    private var pieces: [Piece] = []

    private static let passedOver = [
        ("//", "\n"), ("/*", "*/"), ("#JSGF", ";"), ("/", "/"), ("{", "}"), ("<", ">"),
    ]

    /// Whether a text is a grammar and not a list of words.
    package static func isGrammar(_ text: String) -> Bool {
        text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }.hasPrefix("#JSGF")
    }

    /// Takes a grammar apart; nothing is refused here.
    ///
    /// - Parameter text: JSGF.
    package init(_ text: String) {
        var rest = text[...]
        var line = 1
        /// Between a statement's beginning and what it says.
        var isHead = true
        while let first = rest.first {
            var piece = ""
            var isWord = false
            if let (opening, closing) = Self.passedOver.first(where: { rest.hasPrefix($0.0) }) {
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
                // `public`, `grammar name` and `import` say nothing.
                isWord = !isHead
            }
            pieces.append(Piece(text: piece, line: line, isWord: isWord))
            line += piece.count { $0.isNewline }
        }
    }

    /// What a rule is told to be, without what the rules in it are.
    struct Rule {
        /// Words, brackets, alternatives and names of rules.
        var places = 0
        /// How many brackets are in each other.
        var depth = 0
        /// The rules that it names, each as often as it does, and in how many brackets.
        var names: [(name: String, inside: Int)] = []
    }

    /// The rules by their names, without that of the grammar; one that is told twice is all of it.
    var rules: [String: Rule] {
        var rules: [String: Rule] = [:]
        var (told, isHead, open) = ("", true, 0)
        for piece in pieces {
            let first = piece.text.first ?? " "
            if isHead {
                if first == "<" { told = Self.bare(piece.text) }
                if piece.text == "=" { (isHead, open) = (false, 0) }
                continue
            }
            if piece.text == ";" {
                (told, isHead) = ("", true)
                continue
            }
            var rule = rules.removeValue(forKey: told) ?? Rule()
            if "([".contains(first) { open += 1 }
            if ")]".contains(first) { open -= 1 }
            if first == "<" { rule.names.append((Self.bare(piece.text), max(0, open))) }
            if piece.isWord && !piece.text.isEmpty || "<([|*+".contains(first) { rule.places += 1 }
            rule.depth = max(rule.depth, open)
            rules[told] = rule
        }
        return rules
    }

    /// Whether it would have rules of other files.
    var imports: Bool { pieces.contains { $0.text == "import" && !$0.isWord } }

    /// `<grammar.rule>` as `<rule>`.
    private static func bare(_ name: String) -> String {
        "<" + (name.dropFirst().split(separator: ".").last.map(String.init) ?? name)
    }

    /// Every word that it can make, once, in the order of the file.
    var words: [(word: String, line: Int)] {
        var seen: Set<String> = []
        return pieces.filter { $0.isWord && !$0.text.isEmpty && seen.insert($0.text).inserted }
            .map { ($0.text, $0.line) }
    }

    /// Rules that are used and not told, where nothing is imported; a recogniser would pass over them in silence.
    package var undefined: [(rule: String, line: Int)] {
        let rules = pieces.enumerated().filter { $0.element.text.hasPrefix("<") }
        let told = Set(
            rules.filter { index, _ in
                pieces[(index + 1)...].first { !$0.text.allSatisfy(\.isWhitespace) }?.text == "="
            }.map(\.element.text))
        if imports { return [] }
        return rules.map { ($0.element.text, $0.element.line) }
            .filter { !told.contains($0.0) && $0.0 != "<NULL>" && $0.0 != "<VOID>" }
    }

    /// The grammar with the decoder's names for its words.
    func text(naming names: [String: String]) -> String {
        pieces.map { $0.isWord ? names[$0.text] ?? $0.text : $0.text }.joined()
    }
}
