import Testing

@testable import Core

@Suite("Word errors") struct WordErrorsTests {
    @Test(
        "words are compared by letters and digits only",
        arguments: [
            ("he was not an ill disposed young man", "He was not an ill-disposed young man.", 0),
            ("the doctor's house", "The doctor’s house", 0),
            ("one two three", "", 3),
            ("one two three", "one three", 1),
            ("one two three", "one too three four", 2),
            ("", "", 0),
        ])
    func texts(reference: String, hypothesis: String, errors: Int) {
        let wordErrors = WordErrors(referenceText: reference, hypothesisText: hypothesis)
        #expect(wordErrors.errors == errors)
        #expect(wordErrors.words == reference.split(separator: " ").count)
    }

    @Test("inserted words count as errors, and the counts of two transcripts can be added")
    func sums() {
        let sum =
            WordErrors(referenceText: "a b", hypothesisText: "a b c d e")
            + WordErrors(referenceText: "x y", hypothesisText: "x")
        #expect(sum.errors == 4 && sum.words == 4 && sum.percent == 100)
        #expect(WordErrors(referenceText: "", hypothesisText: "you").percent == 0)
    }
}
