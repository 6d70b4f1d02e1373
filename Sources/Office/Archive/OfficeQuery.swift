/// The words of a search as a person typed them. All must occur in one line, in any order.
///
/// A word such as `don't` consists of several tokens, which must follow each other. The last word may be incomplete,
/// unless it is a single ASCII letter or digit.
package struct OfficeQuery: Hashable, Sendable {
    /// The tokens of each word: letters and digits in lower case.
    let words: [[String]]
    /// Whether the last token also matches the beginning of a word.
    let isBeginning: Bool

    /// Words with a similar spelling that also match, by token.
    var alike: [String: [String]] = [:]

    /// Parses a search.
    ///
    /// - Parameter text: plain words; there is no query syntax.
    package init(_ text: String) {
        words = text.split(whereSeparator: \.isWhitespace).map { Self.tokens(String($0)) }.filter { !$0.isEmpty }
        let last = words.last?.last ?? ""
        let ends = text.last.map { Self.isToken($0) } ?? false
        isBeginning = ends && (last.count > 1 || !last.allSatisfy(\.isASCII))
    }

    /// Returns the tokens of a text: its sequences of letters and digits, in lower case.
    static func tokens(_ text: String) -> [String] {
        let lowercase = text.lowercased()
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return lowercase.split { !isToken($0) }.map(String.init) }
        // Splitting ASCII as bytes takes a fraction of the time.
        return lowercase.utf8.split { byte in
            !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }.map { String(Substring($0)) }
    }

    private static func isToken(_ character: Character) -> Bool { character.isLetter || character.isNumber }
}
