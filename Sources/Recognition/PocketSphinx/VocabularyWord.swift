/// A word of PocketSphinx's dictionary: `tomato(2)`, `<sil>`, `[NOISE]`.
struct VocabularyWord {
    private let name: Substring

    init(_ name: String) { self.name = name[...] }

    /// The word without the number of its pronunciation; nil for fillers.
    var spoken: String? {
        guard let first = name.first, first != "<", first != "[", !name.hasPrefix("++") else { return nil }
        guard name.last == ")", let open = name.lastIndex(of: "("), open != name.startIndex,
            name[name.index(after: open)...].dropLast().allSatisfy(\.isNumber)
        else { return String(name) }
        return String(name[..<open])
    }

    /// Whether the word stands for a noise: `[NOISE]`, `++BREATH++`.
    var isNoise: Bool { name.first == "[" || name.hasPrefix("++") }

    /// Returns the text of a whole reading.
    static func text(of reading: String) -> String {
        reading.split(separator: " ").compactMap { VocabularyWord(String($0)).spoken }.joined(separator: " ")
    }
}
