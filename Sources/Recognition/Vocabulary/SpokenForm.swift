/// The spoken forms of a written English word: `Mr.` is spoken as mister, `$5.50` as five dollars fifty.
///
/// For words such as `1905`, `St.` or `NATO`, only the audio can tell which form was spoken.
struct SpokenForm: Hashable, Sendable {
    /// The spoken forms as dictionary words, most likely first; empty if the word is not spoken.
    var variants: [[String]]

    private static let maxVariants = 24
    /// The maximum number of characters. A longer text is not a word, so its only form is one that no dictionary has.
    private static let maxCharacters = 60

    /// - Parameter written: a word from an engine, possibly with punctuation.
    init(of written: String) {
        let text = Self.plain(written)
        guard text.count <= Self.maxCharacters else {
            variants = [[String(text.lowercased().prefix(Self.maxCharacters))]]
            return
        }
        variants = Array(Self.variants(of: text).filter { !$0.isEmpty }.unique.prefix(Self.maxVariants))
    }

    /// Returns the forms of consecutive words. In `$5 million`, the word `dollars` is spoken last.
    static func forms(of words: [String]) -> [SpokenForm] {
        let scales: Set = ["hundred", "thousand", "million", "billion", "trillion"]
        return words.indices.map { index in
            var form = SpokenForm(of: words[index])
            if index > 0, let sign = words[index - 1].first(where: { SpokenToken.currencies[$0] != nil }),
                let currency = SpokenToken.currencies[sign],
                form.variants.contains(where: { $0.count == 1 && scales.contains($0[0]) })
            {
                form.variants = form.variants.map { $0 + [currency.plural] } + form.variants
            }
            return form
        }
    }

    /// Unifies apostrophes and dashes, and replaces separators with spaces.
    private static func plain(_ written: String) -> String {
        String(
            written.map { character in
                switch character {
                case "’", "‘", "ʼ", "`": "'"
                case "–", "—", "‐", "‑", "−": "-"
                case "…", "“", "”", "\"", "«", "»", "(", ")", "[", "]", "{", "}", ";", "!", "?", "_", "\n", "\t": " "
                default: character
                }
            })
    }

    private static func variants(of text: String) -> [[String]] {
        let words = text.split(separator: " ").map { trimmed($0) }.filter { !$0.isEmpty }
        return words.reduce([[]]) { product($0, wordVariants(of: $1)) }
    }

    /// Removes surrounding punctuation that is not spoken.
    private static func trimmed(_ word: Substring) -> Substring {
        func isSpoken(_ character: Character) -> Bool {
            character.isLetter || character.isNumber || SpokenToken.signs[character] != nil
                || SpokenToken.currencies[character] != nil
        }
        guard let first = word.firstIndex(where: isSpoken), let last = word.lastIndex(where: isSpoken) else {
            return ""
        }
        var (start, end) = (first, word.index(after: last))
        // The punctuation may be part of the word, as in 'em, boys', Mr. and .5.
        if start > word.startIndex, "'.".contains(word[word.index(before: start)]) { start = word.index(before: start) }
        if end < word.endIndex, "'.".contains(word[end]) { end = word.index(after: end) }
        return word[start..<end]
    }

    private static func wordVariants(of word: Substring) -> [[String]] {
        if let variants = SpokenToken.variants(of: word) { return variants }
        let parts = word.split { $0 == "-" || $0 == "/" || $0 == "," || $0 == ":" }
        guard parts.count > 1 else { return SpokenToken.letterVariants(of: parts.first ?? word) }
        let split = parts.reduce([[]]) {
            product($0, SpokenToken.variants(of: $1) ?? SpokenToken.letterVariants(of: $1))
        }
        // Dictionaries contain a few words with a hyphen.
        let isJoined = word.allSatisfy { $0.isLetter || $0 == "-" || $0 == "'" }
        return isJoined ? split + [[word.lowercased()]] : split
    }

    static func product(_ left: [[String]], _ right: [[String]]) -> [[String]] {
        if right.isEmpty { return left }
        return Array(left.flatMap { start in right.map { start + $0 } }.prefix(maxVariants))
    }
}
