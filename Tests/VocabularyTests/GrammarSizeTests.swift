import Testing

@testable import Recognition

@Suite("The size of a grammar") struct GrammarSizeTests {
    /// Rules, each of which uses the next one several times.
    private func nested(_ depth: Int, times: Int) -> GrammarFile {
        var text = "#JSGF V1.0;\ngrammar large;\npublic <r0> = <r1>;\n"
        for rule in 1..<depth {
            let names = [String](repeating: "<large.r\(rule + 1)>", count: times)
            text += "<r\(rule)> = \(names.joined(separator: " "));\n"
        }
        return GrammarFile(text + "<r\(depth)> = yes | no;\n")
    }

    @Test("of a few lines with a hundred million words is computed before the grammar is built")
    func nestedRules() throws {
        let excess = try #require(nested(9, times: 10).excess)
        #expect(excess.contains("50000 words") && excess.contains("fewer"))
        #expect(nested(40, times: 2).excess != nil)
        #expect(nested(4, times: 10).excess == nil)
    }

    @Test("counts words of unused rules")
    func unused() {
        let words = String(repeating: "no | ", count: 30_000) + "no"
        #expect(GrammarFile("#JSGF V1.0;\ngrammar g;\npublic <a> = yes;\n<b> = \(words);\n").excess != nil)
    }

    @Test("has a limit on depth", arguments: [150, 100_000])
    func depth(rules: Int) {
        #expect((nested(rules, times: 1).excess != nil) == (rules > 200))
        let brackets = String(repeating: "(", count: rules) + "a" + String(repeating: ")", count: rules)
        #expect((GrammarFile("#JSGF;\ngrammar g;\npublic <a> = \(brackets);\n").excess != nil) == (rules > 200))
    }

    @Test("ends at rules that refer to each other")
    func circle() {
        let text = "#JSGF V1.0;\ngrammar g;\npublic <a> = one <b> | stop;\n<b> = two <a>;\n<c> = <c>;\n"
        #expect(GrammarFile(text).excess == nil)
    }

    @Test("is unknown for imported rules, so these are refused")
    func imported() {
        let text = "#JSGF V1.0;\ngrammar g;\nimport <other.*>;\npublic <a> = one;\n"
        #expect(GrammarFile(text).excess?.contains("other files") == true)
    }
}
