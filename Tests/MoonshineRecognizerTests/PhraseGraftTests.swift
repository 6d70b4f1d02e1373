import Testing

@testable import Recognition

@Suite("Phrases inserted into a text recognized without the list")
struct PhraseGraftTests {
    /// Returns the merged text. In `listed`, the phrases are in brackets.
    private func text(_ plain: String, _ listed: String) -> String {
        let plain = plain.split(separator: " ").map(String.init)
        let marked = listed.split(separator: " ").map(String.init)
        let words = marked.map { String($0.filter { !"[]".contains($0) }) }
        return PhraseGraft.sources(plain: plain, listed: words, isPhrase: marked.map { $0.hasPrefix("[") }).map {
            switch $0 {
            case .plain(let word): plain[word]
            case .listed(let word): words[word]
            }
        }.joined(separator: " ")
    }

    @Test(
        "a phrase replaces words that sound like it, and other words stay unchanged",
        arguments: [
            ("he met mister brown", "he met mister [Braun]", "he met mister Braun"),
            // A word outside the phrase differs, too.
            ("he had recited it", "he [hath] resides in it", "he hath recited it"),
            ("a long walk by the see", "the long walk by the [C]", "a long walk by the C"),
            ("it was so and he met brown.", "it is so and he met [Braun.]", "it was so and he met Braun."),
            // More or fewer words than the phrase.
            ("scrim geor came", "[Scrimgeour] came", "Scrimgeour came"),
            ("the vanburen road", "the [Van] [Buren] road", "the Van Buren road"),
            ("the van burn road", "the [Van] [Buren] road", "the Van Buren road"),
            ("up and way to go", "[Upanway] two go", "Upanway to go"),
            // The phrase ends within a word.
            ("meet horatiosoon now", "meet [Horatio] soon now", "meet Horatio soon now"),
            // One of the texts is empty or lacks the words, or there is no phrase.
            ("", "[Braun]", "Braun"), ("he said", "he said [Braun]", "he said Braun"),
            ("brown", "[Braun]", "Braun"), ("he said", "", "he said"), ("he said so", "she said so", "he said so"),
            ("Braun — and", "[Braun] and", "Braun — and"),
        ])
    func graft(plain: String, listed: String, expected: String) { #expect(text(plain, listed) == expected) }

    @Test("complete phrases are found by their tokens; longer phrases win, and phrases in longer words do not count")
    func phrases() {
        // Tokens from 10 on begin words; token 9 is a punctuation mark.
        let trie = PhraseTrie(
            [(0, [10, 1]), (1, [10, 1, 11]), (2, [12])], weight: 2, beginsWord: { $0 >= 10 }, isMark: { $0 == 9 })
        #expect(trie.phrases(in: [10, 1, 11, 12, 9]) == [0..<3, 3..<4])
        #expect(trie.phrases(in: [10, 1, 12, 3]) == [0..<2], "the phrase ends within a word")
        #expect(trie.phrases(in: [10, 1, 11, 3]) == [0..<2], "only the shorter phrase is complete")
        #expect(trie.phrases(in: [1, 11]).isEmpty && trie.phrases(in: []).isEmpty)
    }
}
