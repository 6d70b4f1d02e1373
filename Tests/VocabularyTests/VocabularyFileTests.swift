import Testing

@testable import Recognition

@Suite("vocabulary.txt") struct VocabularyFileTests {
    @Test("words, phrases, frequencies, sounds, classes and templates are parsed")
    func allSyntax() {
        let file = VocabularyFile(
            """
            \u{FEFF}# of the village
            Ouagadougou
            shea butter * 20   # at the market

            Dogon * 2 = D OW G AA N | D AA G AH N
            ask <person> about it
            <person> = Awa * 3 | de Luca
            """)
        #expect(file.problems == [])
        #expect(
            file.phrases.map { $0.words.joined(separator: " ") } == [
                "Ouagadougou", "shea butter", "Dogon", "ask Awa about it", "ask de Luca about it",
            ])
        #expect(file.phrases.map(\.perThousand) == [5, 20, 2, 3.75, 1.25])
        #expect(file.phrases.map(\.line) == [2, 3, 5, 6, 6])
        #expect(file.pronunciations == ["Dogon": [["D", "OW", "G", "AA", "N"], ["D", "AA", "G", "AH", "N"]]])
        #expect(file.words.map(\.word).prefix(4) == ["Ouagadougou", "shea", "butter", "Dogon"])
    }

    @Test(
        "invalid lines are reported by number, and the rest is used",
        arguments: [
            ("* 2", "there is no word"), ("shea * many", "frequency"), ("shea * 0", "frequency"),
            ("shea * 2 butter", "frequency"), ("shea butter = SH IY", "single word"), ("shea =", "no sounds"),
            ("shea(2)", "cannot be part of a word"), ("a/b", "cannot be part of a word"),
            ("-", "does not begin like a word"),
            ("ask <nobody>", "is not defined"), ("<x> = a | <y>", "a class within a class"), ("<x> = a |", "no word"),
            ("= SH IY", "there is no word"), (String(repeating: "a ", count: 21), "more than 20 words"),
            (String(repeating: "a", count: 65), "longer than 64 bytes"),
        ])
    func problems(line: String, reason: String) {
        let file = VocabularyFile("millet\r\n\(line)\r\nsorghum\n")
        #expect(file.problems.count == 1 && file.problems[0].line == 2, "\(file.problems)")
        #expect(file.problems.first?.reason.contains(reason) == true, "\(file.problems)")
        #expect(file.phrases.map(\.words) == [["millet"], ["sorghum"]])
    }

    @Test("a template with too many phrases is refused without being expanded")
    func tooManyPhrases() {
        let members = (1...300).map { "w\($0)" }.joined(separator: " | ")
        let file = VocabularyFile("<x> = \(members)\n<x> <x> <x>\nmillet\n")
        #expect(file.problems.map(\.line) == [2])
        #expect(file.phrases.map(\.words) == [["millet"]])
    }

    @Test("a class that is defined twice is a problem in the second line")
    func duplicateClass() {
        let file = VocabularyFile("<x> = a\n<x> = b\n<x>\n")
        #expect(file.problems.map(\.line) == [2])
        #expect(file.phrases.map(\.words) == [["a"]])
    }

    @Test("random text gives only valid phrases and problems with valid line numbers", arguments: 0..<40)
    func randomText(seed: UInt64) {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        let letters = Array("a<>=|*#\n\t 5é'(/-")
        let text = String(
            (0..<400).map { _ -> Character in
                state = state &* 6_364_136_223_846_793_005 &+ 1
                return letters[Int(state >> 33) % letters.count]
            })
        let file = VocabularyFile(text)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).count
        #expect(file.problems.allSatisfy { (1...lines).contains($0.line) }, "seed \(seed)")
        #expect(file.phrases.allSatisfy { !$0.words.isEmpty && $0.perThousand > 0 }, "seed \(seed)")
    }
}
