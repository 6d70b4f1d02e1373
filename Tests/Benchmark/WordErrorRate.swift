/// Word error rate: substitutions, deletions and insertions over the reference's words.
struct WordErrorRate {
    private(set) var errors = 0
    private(set) var words = 0

    var percent: Double { words == 0 ? 0 : 100 * Double(errors) / Double(words) }

    /// Compares two texts after normalisation.
    init(reference: String, hypothesis: String) {
        let reference = Self.normalized(reference)
        let hypothesis = Self.normalized(hypothesis)
        words = reference.count
        var row = Array(0...hypothesis.count)
        for (index, word) in reference.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in 0..<hypothesis.count {
                let substituted = diagonal + (word == hypothesis[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(substituted, row[column + 1] + 1, row[column] + 1)
            }
        }
        errors = row[hypothesis.count]
    }

    /// Lower case, letters, digits and apostrophes only, abbreviations as they are spoken.
    static func normalized(_ text: String) -> [String] {
        text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "'") }.map { word in
            spoken[String(word)] ?? String(word)
        }
    }

    private static let spoken = ["mr": "mister", "mrs": "missus", "dr": "doctor"]
}
