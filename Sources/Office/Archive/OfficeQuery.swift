import Core

/// What a person typed, for any archive's index: words that must all occur in one line, in any order.
///
/// A word such as `don't` is several tokens, which must follow each other; the last word may be the beginning of one, but not
/// where it is a single Latin letter or digit.
package struct OfficeQuery: Hashable, Sendable {
    /// Of each word its tokens, in lower case: letters and digits alone.
    let words: [[String]]
    /// Whether the last token may be the beginning of one.
    let isBeginning: Bool

    /// What is as good as a token: words that are written alike, since one of them may have been heard wrong.
    var alike: [String: [String]] = [:]

    /// - Parameter text: as it was typed; nothing in it is syntax.
    package init(_ text: String) {
        words = text.split(whereSeparator: \.isWhitespace).map { Self.tokens(String($0)) }.filter { !$0.isEmpty }
        let last = words.last?.last ?? ""
        let ends = text.last.map { Self.isToken($0) } ?? false
        isBeginning = ends && (last.count > 1 || !last.allSatisfy(\.isASCII))
    }

    /// The letters and digits that follow each other in a text, in lower case.
    static func tokens(_ text: String) -> [String] {
        // What most texts are of takes a tenth of the time.
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return plainTokens(text) }
        return text.lowercased().split { !isToken($0) }.map(String.init)
    }

    /// The same of ASCII.
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
