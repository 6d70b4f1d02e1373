import Testing

@testable import Recognition

@Suite("A grammar's size") struct GrammarSizeTests {
    /// Returns a grammar in which each rule uses the next one several times.
    private func nestedGrammar(_ depth: Int, times: Int) -> GrammarFile {
        var text = "#JSGF V1.0;\ngrammar large;\npublic <r0> = <r1>;\n"
        for rule in 1..<depth {
            let names = [String](repeating: "<large.r\(rule + 1)>", count: times)
            text += "<r\(rule)> = \(names.joined(separator: " "));\n"
        }
        return GrammarFile(text + "<r\(depth)> = yes | no;\n")
    }

    @Test("is known before the grammar is expanded, even if a few lines have a hundred million words")
    func nestedRules() throws {
        let problem = try #require(nestedGrammar(9, times: 10).sizeProblem)
        #expect(problem.contains("50000 words") && problem.contains("fewer"))
        #expect(nestedGrammar(40, times: 2).sizeProblem != nil)
        #expect(nestedGrammar(4, times: 10).sizeProblem == nil)
    }

    @Test("includes the words of unused rules")
    func unusedRules() {
        let words = String(repeating: "no | ", count: 30_000) + "no"
        #expect(GrammarFile("#JSGF V1.0;\ngrammar g;\npublic <a> = yes;\n<b> = \(words);\n").sizeProblem != nil)
    }

    @Test("includes a limit on depth", arguments: [150, 100_000])
    func depth(rules: Int) {
        #expect((nestedGrammar(rules, times: 1).sizeProblem != nil) == (rules > 200))
        let brackets = String(repeating: "(", count: rules) + "a" + String(repeating: ")", count: rules)
        #expect((GrammarFile("#JSGF;\ngrammar g;\npublic <a> = \(brackets);\n").sizeProblem != nil) == (rules > 200))
    }

    @Test("is finite for rules that refer to each other")
    func mutualRecursion() {
        let text = "#JSGF V1.0;\ngrammar g;\npublic <a> = one <b> | stop;\n<b> = two <a>;\n<c> = <c>;\n"
        #expect(GrammarFile(text).sizeProblem == nil)
    }

    @Test("is unknown for imported rules, so they are refused")
    func importedRules() {
        let text = "#JSGF V1.0;\ngrammar g;\nimport <other.*>;\npublic <a> = one;\n"
        #expect(GrammarFile(text).sizeProblem?.contains("other files") == true)
    }
}
