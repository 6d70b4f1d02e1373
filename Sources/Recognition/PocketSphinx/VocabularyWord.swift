/// A word as PocketSphinx's dictionary names it: `tomato(2)`, `<sil>`, `[NOISE]`.
struct VocabularyWord {
    private let name: Substring

    init(_ name: String) { self.name = name[...] }

    /// What was spoken: without the number of the pronunciation; nil for fillers, which nobody said.
    var spoken: String? {
        guard let first = name.first, first != "<", first != "[", !name.hasPrefix("++") else { return nil }
        guard name.last == ")", let open = name.lastIndex(of: "("), open != name.startIndex,
            name[name.index(after: open)...].dropLast().allSatisfy(\.isNumber)
        else { return String(name) }
        return String(name[..<open])
    }

    /// Whether it stands for a sound that is neither speech nor silence: `[NOISE]`, `++BREATH++`.
    var isNoise: Bool { name.first == "[" || name.hasPrefix("++") }

    /// A whole reading, as spoken.
    static func text(of reading: String) -> String {
        reading.split(separator: " ").compactMap { VocabularyWord(String($0)).spoken }.joined(separator: " ")
    }
}
