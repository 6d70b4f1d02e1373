extension Word {
    /// Identifies the word, ignoring case and punctuation; see `key(of:)`.
    package var key: String { Self.key(of: text) }

    /// Returns the lowercase letters and digits with the apostrophes between them; empty if there are none.
    package static func key(of text: String) -> String {
        if let key = plainKey(of: text) { return key }
        var key = ""
        var apostrophes = ""
        for character in text.lowercased() {
            if character.isLetter || character.isNumber {
                // The apostrophes are within the word, since another letter follows.
                if !key.isEmpty { key += apostrophes }
                apostrophes = ""
                key.append(character)
            } else if "'’ʼ".contains(character) {
                apostrophes = "'"
            }
        }
        return key
    }

    /// A fast path for ASCII; returns nil for other text.
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
