extension Word {
    /// The word without case and punctuation; see `key(of:)`.
    package var key: String { Self.key(of: text) }

    /// Returns the letters and digits in lowercase, with the apostrophes between them. Words with equal keys count as
    /// the same word.
    package static func key(of text: String) -> String {
        if let key = plainKey(of: text) { return key }
        var key = ""
        var apostrophe = ""
        for character in text.lowercased() {
            if character.isLetter || character.isNumber {
                // An apostrophe counts only between two letters or digits.
                if !key.isEmpty { key += apostrophe }
                apostrophe = ""
                key.append(character)
            } else if "'’ʼ".contains(character) {
                apostrophe = "'"
            }
        }
        return key
    }

    /// The fast path of `key(of:)` for ASCII; returns nil for other text.
    private static func plainKey(of text: String) -> String? {
        if text.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0.isASCIIDigit }) { return text }
        var key: [UInt8] = []
        var hasApostrophe = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"):
                if hasApostrophe, !key.isEmpty { key.append(UInt8(ascii: "'")) }
                hasApostrophe = false
                key.append(byte < UInt8(ascii: "A") || byte > UInt8(ascii: "Z") ? byte : byte | 0x20)
            case UInt8(ascii: "'"): hasApostrophe = true
            case 0x80...: return nil
            default: break
            }
        }
        return String(decoding: key, as: UTF8.self)
    }
}
