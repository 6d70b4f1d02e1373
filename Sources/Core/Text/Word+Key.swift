extension Word {
    /// What makes it the same word as another, however it is written: see `key(of:)`.
    package var key: String { Self.key(of: text) }

    /// Letters and digits in lower case, with the apostrophes between them; without any other mark. Empty where there is
    /// none of these, as of a lone dash.
    package static func key(of text: String) -> String {
        if let key = plainKey(of: text) { return key }
        var key = ""
        var apostrophes = ""
        for character in text.lowercased() {
            if character.isLetter || character.isNumber {
                // Only now is it known that they stand within the word.
                if !key.isEmpty { key += apostrophes }
                apostrophes = ""
                key.append(character)
            } else if "'’ʼ".contains(character) {
                apostrophes = "'"
            }
        }
        return key
    }

    /// The same of a text in ASCII, which most are, without looking for characters of several scalars; nil of any other.
    private static func plainKey(of text: String) -> String? {
        if text.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }) { return text }
        var key: [UInt8] = []
        var isWithinQuote = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"):
                if isWithinQuote, !key.isEmpty { key.append(UInt8(ascii: "'")) }
                isWithinQuote = false
                key.append(byte < UInt8(ascii: "A") || byte > UInt8(ascii: "Z") ? byte : byte | 0x20)
            case UInt8(ascii: "'"): isWithinQuote = true
            case 0x80...: return nil
            default: break
            }
        }
        return String(decoding: key, as: UTF8.self)
    }
}
