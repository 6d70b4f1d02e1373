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

    /// Every word that it can make, once, in the order of the file.
    package var words: [(word: String, line: Int)] {
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
        if pieces.contains(where: { $0.text == "import" && !$0.isWord }) { return [] }
        return rules.map { ($0.element.text, $0.element.line) }
            .filter { !told.contains($0.0) && $0.0 != "<NULL>" && $0.0 != "<VOID>" }
    }

    /// The grammar with the decoder's names for its words.
    package func text(naming names: [String: String]) -> String {
        pieces.map { $0.isWord ? names[$0.text] ?? $0.text : $0.text }.joined()
    }
}
