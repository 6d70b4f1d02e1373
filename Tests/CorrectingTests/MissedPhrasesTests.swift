import Testing

@testable import Core
@testable import Transcripts

@Suite("Words learned from corrections") struct MissedPhrasesTests {
    private func missed(_ recognized: String, _ corrected: String) -> MissedPhrases {
        let old = spoken(1, at: 10, recognized)
        let new = CorrectedSegment(old, words: corrected.split(separator: " ").map(String.init)).segment
        return MissedPhrases(recognized: [old], corrected: [new])
    }

    /// Returns the phrases worth learning.
    ///
    /// - Parameter known: The words in the dictionary.
    private func worth(_ missed: MissedPhrases, known: Set<String> = []) -> [String] {
        let all = try? missed.worthLearning { (words) throws(DeviceError) in known.intersection(words) }
        return all?.map(\.phrase.text) ?? ["failed"]
    }

    @Test("consecutive names are one phrase, without punctuation and 's")
    func names() {
        #expect(worth(missed("we met a wed draw go", "we met Awa Ouedraogo.")) == ["Awa Ouedraogo"])
        #expect(worth(missed("that is hails house", "that is Hale's house")) == ["Hale"])
        #expect(worth(missed("with anna bert and carl", "with Ouma, Bintou and Kadi")) == ["Bintou", "Kadi", "Ouma"])
        #expect(worth(missed("the you nick man", "the UNICEF man"), known: ["unicef"]) == ["UNICEF"])
    }

    @Test("unchanged and removed words, and words whose spelling was only adjusted, are not learned")
    func unchanged() {
        #expect(worth(missed("Hale's house in koudougou", "Hale's house in Koudougou!")).isEmpty)
        #expect(worth(missed("the Hale house", "the Hale's house")).isEmpty)
        #expect(worth(missed("we met zorp there", "we met there")).isEmpty)
        #expect(worth(missed("", "")).isEmpty)
    }

    @Test(
        "function words, numbers, letters and non-words are not learned",
        arguments: [
            "the", "Seven", "7", "B2", "x", "I", "a=b", "zor|p", "#zorp", "zo<rp", "zo*rp", "…", "“”",
            "\u{202E}zorp\u{202E}x",
        ])
    func neverLearned(word: String) {
        let phrases = missed("we fort met", "we \(word) met") + missed("we fort met", "we \(word) met")
        let learned = worth(phrases)
        #expect(learned.isEmpty || learned == ["zorp"], "\(learned)")
        #expect(learned.allSatisfy { $0.allSatisfy { $0.isLetter } })
    }

    @Test("a common word is learned after two misses, if it was missed at least as often as recognized")
    func common() {
        let once = missed("by the fort", "by the ford")
        #expect(worth(once, known: ["ford"]).isEmpty && worth(once) == ["ford"])
        #expect(worth(once + once, known: ["ford"]) == ["ford"])
        let uncorrected = missed("ford ford ford", "ford ford ford")
        #expect(worth(once + once + uncorrected, known: ["ford"]) == ["ford"], "uncorrected text counted")
        let often = missed("by the fort the ford a ford a ford", "by the ford the ford a ford a ford")
        #expect(worth(once + often, known: ["ford"]).isEmpty)
        #expect(worth(missed("so ago", "so Ford"), known: ["ford"]) == ["Ford"], "a name was not learned")
        #expect(worth(missed("ago so", "Ford so"), known: ["ford"]).isEmpty, "a capital at the start is not a name")
        #expect(worth(missed("on. ago so", "on. Ford so"), known: ["ford"]).isEmpty)
    }

    @Test("a compound of known words is not a new word")
    func compound() {
        let phrases = missed("a well nun man", "a sought-after man")
        #expect(worth(phrases, known: ["sought", "after"]).isEmpty && worth(phrases) == ["sought-after"])
    }

    @Test("a word that was recognized as part of another was not missed; a word recognized in parts was")
    func parts() {
        #expect(worth(missed("a shop-boy there", "a zorp boy there")) == ["boy", "zorp"])
        #expect(worth(missed("a zorp-boy there", "a zorp boy there")).isEmpty)
        #expect(worth(missed("in koudou gou there", "in Koudougou there")) == ["Koudougou"])
    }

    @Test("the most frequently corrected words come first; words in other segments do not count")
    func order() {
        let zorp = missed("a fort", "a zorp")
        #expect(worth(missed("a fort", "a balafon") + zorp + zorp) == ["zorp", "balafon"])
        #expect((zorp + zorp).times == ["zorp": 2])
        let other = spoken(2, at: 30, "a zorp")
        #expect(MissedPhrases(recognized: [spoken(1, at: 10, "a fort")], corrected: [other]).phrases.isEmpty)
    }
}
