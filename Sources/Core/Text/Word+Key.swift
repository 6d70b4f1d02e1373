extension Word {
    /// Identifies the word regardless of case and punctuation; see `key(of:)`.
    package var key: String { Self.key(of: text) }

    /// Returns letters and digits in lower case with the apostrophes between them; empty without any.
    package static func key(of text: String) -> String {
        if let key = plainKey(of: text) { return key }
        var key = ""
        var apostrophes = ""
        for character in text.lowercased() {
            if character.isLetter || character.isNumber {
                // Only now is it certain that they are within the word.
                if !key.isEmpty { key += apostrophes }
                apostrophes = ""
                key.append(character)
            } else if "'’ʼ".contains(character) {
                apostrophes = "'"
            }
        }
        return key
    }

    /// The fast path for ASCII; nil for other texts.
    private static func plainKey(of text: String) -> String? {
        if text.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0.isASCIIDigit }) { return text }
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
