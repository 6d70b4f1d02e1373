extension Word {
    /// What makes it the same word as another, however it is written: see `key(of:)`.
    package var key: String { Self.key(of: text) }

    /// Letters and digits in lower case, with the apostrophes between them; without any other mark. Empty where there is
    /// none of these, as of a lone dash.
    package static func key(of text: String) -> String {
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
}
