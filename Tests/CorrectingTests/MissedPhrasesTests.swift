import Testing

@testable import Core
@testable import Transcripts

@Suite("Words learned from corrections") struct MissedPhrasesTests {
    private func missed(_ recognized: String, _ corrected: String) -> MissedPhrases {
        let old = spoken(1, at: 10, recognized)
        let new = CorrectedSegment(old, words: corrected.split(separator: " ").map(String.init)).segment
        return MissedPhrases(recognized: [old], corrected: [new])
    }

    /// Returns the phrases that are learned.
    ///
    /// - Parameter known: the words in the dictionary.
    private func learned(from missed: MissedPhrases, known: Set<String> = []) -> [String] {
        let all = try? missed.worthLearning { (words) throws(DeviceError) in known.intersection(words) }
        return all?.map(\.phrase.text) ?? ["failed"]
    }

    @Test("consecutive names are one phrase, without punctuation and 's")
    func names() {
        #expect(learned(from: missed("we met a wed draw go", "we met Awa Ouedraogo.")) == ["Awa Ouedraogo"])
        #expect(learned(from: missed("that is hails house", "that is Hale's house")) == ["Hale"])
        let names = missed("with anna bert and carl", "with Ouma, Bintou and Kadi")
        #expect(learned(from: names) == ["Bintou", "Kadi", "Ouma"])
        #expect(learned(from: missed("the you nick man", "the UNICEF man"), known: ["unicef"]) == ["UNICEF"])
    }

    @Test("removed words, and words that are unchanged except for punctuation, capitals or a final 's, are not learned")
    func unlearnedWords() {
        #expect(learned(from: missed("Hale's house in koudougou", "Hale's house in Koudougou!")).isEmpty)
        #expect(learned(from: missed("the Hale house", "the Hale's house")).isEmpty)
        #expect(learned(from: missed("we met zorp there", "we met there")).isEmpty)
        #expect(learned(from: missed("", "")).isEmpty)
    }

    @Test(
        "function words, numbers, letters and non-words are not learned",
        arguments: [
            "the", "Seven", "7", "B2", "x", "I", "a=b", "zor|p", "#zorp", "zo<rp", "zo*rp", "…", "“”",
            "\u{202E}zorp\u{202E}x",
        ])
    func neverLearned(word: String) {
        let phrases = missed("we fort met", "we \(word) met") + missed("we fort met", "we \(word) met")
        let learnedPhrases = learned(from: phrases)
        #expect(learnedPhrases.isEmpty || learnedPhrases == ["zorp"], "\(learnedPhrases)")
        #expect(learnedPhrases.allSatisfy { $0.allSatisfy { $0.isLetter } })
    }

    @Test("a common word is learned after two misses, if it was missed at least as often as recognized")
    func commonWord() {
        let once = missed("by the fort", "by the ford")
        #expect(learned(from: once, known: ["ford"]).isEmpty && learned(from: once) == ["ford"])
        #expect(learned(from: once + once, known: ["ford"]) == ["ford"])
        let uncorrected = missed("ford ford ford", "ford ford ford")
        #expect(learned(from: once + once + uncorrected, known: ["ford"]) == ["ford"], "uncorrected text counted")
        let often = missed("by the fort the ford a ford a ford", "by the ford the ford a ford a ford")
        #expect(learned(from: once + often, known: ["ford"]).isEmpty)
        #expect(learned(from: missed("so ago", "so Ford"), known: ["ford"]) == ["Ford"], "a name was not learned")
        #expect(
            learned(from: missed("ago so", "Ford so"), known: ["ford"]).isEmpty, "a capital at the start is not a name")
        #expect(learned(from: missed("on. ago so", "on. Ford so"), known: ["ford"]).isEmpty)
    }

    @Test("a compound of known words is not a new word")
    func compound() {
        let phrases = missed("a well nun man", "a sought-after man")
        #expect(learned(from: phrases, known: ["sought", "after"]).isEmpty)
        #expect(learned(from: phrases) == ["sought-after"])
    }

    @Test("a word that was recognized as part of another was not missed; a word recognized in parts was")
    func wordParts() {
        #expect(learned(from: missed("a shop-boy there", "a zorp boy there")) == ["boy", "zorp"])
        #expect(learned(from: missed("a zorp-boy there", "a zorp boy there")).isEmpty)
        #expect(learned(from: missed("in koudou gou there", "in Koudougou there")) == ["Koudougou"])
    }

    @Test("the most frequently corrected words come first; words in other segments do not count")
    func order() {
        let zorp = missed("a fort", "a zorp")
        #expect(learned(from: missed("a fort", "a balafon") + zorp + zorp) == ["zorp", "balafon"])
        #expect((zorp + zorp).times == ["zorp": 2])
        let other = spoken(2, at: 30, "a zorp")
        #expect(MissedPhrases(recognized: [spoken(1, at: 10, "a fort")], corrected: [other]).phrases.isEmpty)
    }
}
