/// The words of a search as a person typed them. All must occur in one line, in any order.
///
/// A word such as `don't` consists of several tokens, which must follow each other.
package struct OfficeQuery: Hashable, Sendable {
    /// The tokens of each word: letters and digits in lower case.
    let words: [[String]]
    /// Whether the last token also matches words that begin with it. True if the text ends with this token, unless the
    /// token is a single ASCII character.
    let endsWithPrefix: Bool

    /// Words with a similar spelling that also match, by token.
    var similarWords: [String: [String]] = [:]

    /// Splits a text into words. There is no query syntax.
    package init(_ text: String) {
        words = text.split(whereSeparator: \.isWhitespace).map { Self.tokens(String($0)) }.filter { !$0.isEmpty }
        let last = words.last?.last ?? ""
        let endsWithToken = text.last.map { Self.isTokenCharacter($0) } ?? false
        endsWithPrefix = endsWithToken && (last.count > 1 || !last.allSatisfy(\.isASCII))
    }

    /// Returns the tokens of a text: its sequences of letters and digits, in lower case.
    static func tokens(_ text: String) -> [String] {
        let lowercase = text.lowercased()
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            return lowercase.split { !isTokenCharacter($0) }.map(String.init)
        }
        // Splitting ASCII as bytes takes a fraction of the time.
        return lowercase.utf8.split { byte in
            !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }.map { String(Substring($0)) }
    }

    private static func isTokenCharacter(_ character: Character) -> Bool {
        character.isLetter || character.isNumber
    }
}
