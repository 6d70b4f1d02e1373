/// The spoken forms of written English words: `Mr.` is mister, `$5.50` five dollars fifty.
///
/// Often only the audio decides between several forms: `1905`, `St.`, `NATO`.
struct SpokenForm: Hashable, Sendable {
    /// The spoken forms as dictionary words, most likely first; empty if nothing is spoken.
    var ways: [[String]]

    private static let maxWays = 24
    /// Longer text is not a word: its single form is in no dictionary.
    private static let longest = 60

    /// - Parameter written: a word from an engine, possibly with punctuation.
    init(of written: String) {
        let text = Self.plain(written)
        guard text.count <= Self.longest else {
            ways = [[String(text.lowercased().prefix(Self.longest))]]
            return
        }
        ways = Array(Self.ways(text).filter { !$0.isEmpty }.unique.prefix(Self.maxWays))
    }

    /// Returns the forms of consecutive words. In `$5 million`, the dollars come last.
    static func forms(of words: [String]) -> [SpokenForm] {
        let scales: Set = ["hundred", "thousand", "million", "billion", "trillion"]
        return words.indices.map { index in
            var form = SpokenForm(of: words[index])
            if index > 0, let sign = words[index - 1].first(where: { SpokenToken.currencies[$0] != nil }),
                let name = SpokenToken.currencies[sign],
                form.ways.contains(where: { $0.count == 1 && scales.contains($0[0]) })
            {
                form.ways = form.ways.map { $0 + [name.many] } + form.ways
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

    private static func ways(_ text: String) -> [[String]] {
        let words = text.split(separator: " ").map { trimmed($0) }.filter { !$0.isEmpty }
        return words.reduce([[]]) { product($0, waysOfWord($1)) }
    }

    /// Removes surrounding marks that are not spoken.
    private static func trimmed(_ word: Substring) -> Substring {
        func isHeard(_ character: Character) -> Bool {
            character.isLetter || character.isNumber || SpokenToken.signs[character] != nil
                || SpokenToken.currencies[character] != nil
        }
        guard let first = word.firstIndex(where: isHeard), let last = word.lastIndex(where: isHeard) else { return "" }
        var (start, end) = (first, word.index(after: last))
        // 'em, boys', Mr., .5: the mark may be part of the word.
        if start > word.startIndex, "'.".contains(word[word.index(before: start)]) { start = word.index(before: start) }
        if end < word.endIndex, "'.".contains(word[end]) { end = word.index(after: end) }
        return word[start..<end]
    }

    private static func waysOfWord(_ word: Substring) -> [[String]] {
        if let ways = SpokenToken.ways(word) { return ways }
        let parts = word.split { $0 == "-" || $0 == "/" || $0 == "," || $0 == ":" }
        guard parts.count > 1 else { return SpokenToken.waysOfLetters(parts.first ?? word) }
        let split = parts.reduce([[]]) { product($0, SpokenToken.ways($1) ?? SpokenToken.waysOfLetters($1)) }
        // Dictionaries contain a few words with a dash.
        let isJoined = word.allSatisfy { $0.isLetter || $0 == "-" || $0 == "'" }
        return isJoined ? split + [[word.lowercased()]] : split
    }

    static func product(_ left: [[String]], _ right: [[String]]) -> [[String]] {
        if right.isEmpty { return left }
        return Array(left.flatMap { way in right.map { way + $0 } }.prefix(maxWays))
    }
}
