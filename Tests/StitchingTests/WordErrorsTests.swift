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
    func texts(said: String, read: String, errors: Int) {
        let found = WordErrors(said: said, read: read)
        #expect(found.errors == errors)
        #expect(found.words == said.split(separator: " ").count)
    }

    @Test("inserted words count, and two texts are counted together")
    func sums() {
        let sum = WordErrors(said: "a b", read: "a b c d e") + WordErrors(said: "x y", read: "x")
        #expect(sum.errors == 4 && sum.words == 4 && sum.percent == 100)
        #expect(WordErrors(said: "", read: "you").percent == 0)
    }
}
