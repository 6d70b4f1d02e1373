import Testing

@testable import Recognition

@Suite("The language model of phrases") struct PhraseModelTests {
    /// Returns the log probabilities in ARPA text, by word sequence.
    private func entries(_ arpa: String) -> [String: Double] {
        var entries: [String: Double] = [:]
        for line in arpa.split(separator: "\n") {
            let fields = line.split(separator: "\t")
            if fields.count >= 2, let log = Double(fields[0]) { entries[String(fields[1])] = log }
        }
        return entries
    }

    private func model(_ text: String, base: @escaping PhraseModel.Base) -> String {
        PhraseModel(VocabularyFile(text).phrases, base: base).arpa
    }

    @Test("a word after common words is only as likely as in the phrases")
    func probabilities() {
        let entries = entries(
            model("lord of the manor\nouagadougou now") { word, _ in
                ["of": 0.03, "the": 0.05, "lord": 0.0001, "manor": 0.00001, "now": 0.001][word] ?? 0
            })
        // The frequency is 5 per thousand words, and one fiftieth of this without the preceding words.
        #expect(abs((entries["lord"] ?? 0) + 2.301) < 0.01)
        #expect(abs((entries["manor"] ?? 0) + 4) < 0.01)
        // After "the", the probability is 0.005 / (0.05 + 0.005).
        #expect(abs((entries["the manor"] ?? 0) + 1.041) < 0.01)
        // Only the phrase has this word, so the next word is certain.
        #expect((entries["ouagadougou now"] ?? -9) > -0.01)
        #expect((entries["lord of"] ?? -9) > -0.02)
        #expect(abs((entries["of the manor"] ?? 0) + 0.1139) < 0.01)
    }

    @Test("all phrases together get at most a quarter of the probability")
    func maximumShare() {
        let entries = entries(model((0..<400).map { "w\($0) * 100" }.joined(separator: "\n")) { _, _ in 0 })
        #expect(abs((entries["w7"] ?? 0) + 3.2041) < 0.01)
    }

    @Test("counts match the entries, and each order has entries")
    func arpaFormat() {
        for text in ["millet", "millet flour", "millet flour porridge"] {
            let arpa = model(text) { _, _ in 0.01 }
            for order in 1...3 {
                let heading = "\\\(order)-grams:"
                let body = arpa.split(separator: "\n").drop { $0 != heading }.dropFirst().prefix { !$0.hasPrefix("\\") }
                #expect(!body.isEmpty && arpa.contains("ngram \(order)=\(body.count)\n"), "\(arpa)")
            }
            #expect(arpa == model(text) { _, _ in 0.01 })
        }
    }
}
