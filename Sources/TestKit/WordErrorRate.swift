import Core

/// The word error rate, with initializers for a corpus with varying spellings.
package typealias WordErrorRate = WordErrors

extension WordErrors {
    /// Compares two texts after normalization.
    package init(reference: String, hypothesis: String) {
        self.init(reference: Self.normalized(reference), hypothesis: Self.normalized(hypothesis))
    }

    /// Splits a text into lowercase words that contain only letters, digits and apostrophes. Unifies spellings,
    /// abbreviations and numbers up to ten, and removes fillers and text in brackets. Treats all engines alike.
    package static func normalized(_ text: String) -> [String] {
        withoutBrackets(text.lowercased()).replacing("i.e.", with: "that is").map { $0 == "’" || $0 == "‘" ? "'" : $0 }
            .split { !($0.isASCIIAlphanumeric || $0 == "'") }
            .flatMap { word -> [String] in
                let word = String(word.drop { $0 == "'" })
                let bare = String(word.reversed().drop { $0 == "'" }.reversed())
                guard !bare.isEmpty, !fillers.contains(bare) else { return [] }
                return (respellings[bare] ?? bare).split(separator: " ").map(String.init)
            }
    }

    /// Removes markers such as `<sil>` and `[noise]`, and numbers of alternative pronunciations such as `(2)`.
    private static func withoutBrackets(_ text: String) -> String {
        text.replacing(#/<[^>]*>|\[[^\]]*\]/#, with: " ").replacing(#/\([0-9]+\)/#, with: "")
    }

    private static let fillers: Set = ["uh", "um", "hmm", "mm"]

    private static let respellings = [
        "0": "zero", "1": "one", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven",
        "8": "eight", "9": "nine", "10": "ten", "mr": "mister", "mrs": "missus", "dr": "doctor", "st": "saint",
        "ok": "okay", "alright": "all right", "tonight": "to night", "today": "to day", "tomorrow": "to morrow",
        "yknow": "you know", "grey": "gray", "flavour": "flavor", "colour": "color", "humours": "humors",
        "favour": "favor", "honour": "honor", "upstairs": "up stairs", "anyone": "any one", "everyone": "every one",
        "schoolboy": "school boy", "schoolgirl": "school girl", "theatre": "theater", "enquired": "inquired",
        "worshippers": "worshipers", "etc": "et cetera", "gonna": "going to",
    ]
}
