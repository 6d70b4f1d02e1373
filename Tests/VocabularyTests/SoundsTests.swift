import Testing

@testable import Recognition

@Suite("Pronunciations and grammars") struct SoundsTests {
    @Test(
        "eSpeak's phonemes become the dictionary's phones, without stress",
        arguments: [
            ("w_,A:_g_a#_d_'u:_g_u:", "W AA G AH D UW G UW"), ("tS_'I_n_@_m_,I_n", "CH IH N AH M IH N"),
            ("f_'0_n_I_,oU", "F AA N IY OW"), ("d_@ l_'u:_k_@", "D AH L UW K AH"), ("n_,0_k_u:_'eI", "N AA K UW EY"),
        ])
    func firstPronunciation(mnemonics: String, expected: String) {
        #expect(SpokenSounds.pronunciations(mnemonics).first?.joined(separator: " ") == expected)
    }

    @Test("alternatives follow the first pronunciation, without duplicates; a word with an unknown phoneme has none")
    func alternatives() {
        #expect(
            SpokenSounds.pronunciations("f_'0_n_I_,oU").map { $0.joined(separator: " ") }
                == ["F AA N IY OW", "F OW N IY OW"])
        #expect(SpokenSounds.pronunciations("t_'u:").count == 1)
        #expect(SpokenSounds.pronunciations("t_q!_a").isEmpty)
        #expect(SpokenSounds.pronunciations("").isEmpty)
    }

    @Test("a grammar's words are distinguished from its rules, weights, tags and comments, and can be renamed")
    func grammar() {
        let text = """
            #JSGF V1.0 UTF-8 en;
            // who calls whom
            grammar calls;
            import <other.rule>;
            public <call> = /10/ call <name> {now} | (ring [up] <name>)*; /* all
            of it */
            <name> = Awa | "de Luca" /0.5/;
            """
        let grammar = GrammarFile(text)
        #expect(GrammarFile.isGrammar(text) && !GrammarFile.isGrammar("JSGF\nmillet"))
        #expect(grammar.words.map(\.word) == ["call", "ring", "up", "Awa", "de", "Luca"])
        #expect(grammar.words.map(\.line) == [5, 5, 5, 7, 7, 7])
        #expect(grammar.text(naming: [:]) == text)
        #expect(grammar.text(naming: ["Luca": "luca", "name": "x"]).contains(#"<name> = Awa | "de luca" /0.5/;"#))
    }
}
