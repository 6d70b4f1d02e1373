/// The words of a search, as a person typed them: all must occur in one line, in any order.
///
/// A word such as `don't` is several tokens, which must follow each other. The last word may be the beginning of a word,
/// unless it is a single ASCII letter or digit.
package struct OfficeQuery: Hashable, Sendable {
    /// The tokens of each word: letters and digits in lower case.
    let words: [[String]]
    /// Whether the last token may be the beginning of a word.
    let isBeginning: Bool

    /// For each token, words with a similar spelling that also match.
    var alike: [String: [String]] = [:]

    /// - Parameter text: plain words without a query syntax.
    package init(_ text: String) {
        words = text.split(whereSeparator: \.isWhitespace).map { Self.tokens(String($0)) }.filter { !$0.isEmpty }
        let last = words.last?.last ?? ""
        let ends = text.last.map { Self.isToken($0) } ?? false
        isBeginning = ends && (last.count > 1 || !last.allSatisfy(\.isASCII))
    }

    /// Returns the runs of letters and digits in a text, in lower case.
    static func tokens(_ text: String) -> [String] {
        // ASCII takes a tenth of the time this way.
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return plainTokens(text) }
        return text.lowercased().split { !isToken($0) }.map(String.init)
    }

    private static func plainTokens(_ text: String) -> [String] {
        var (tokens, token): ([String], [UInt8]) = ([], [])
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): token.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): token.append(byte | 0x20)
            default:
                if !token.isEmpty { tokens.append(String(decoding: token, as: UTF8.self)) }
                token.removeAll(keepingCapacity: true)
            }
        }
        if !token.isEmpty { tokens.append(String(decoding: token, as: UTF8.self)) }
        return tokens
    }

    private static func isToken(_ character: Character) -> Bool { character.isLetter || character.isNumber }
}
