@testable import Platform
import Testing

@Suite("The journal") struct JournalTests {
    @Test(
        "a line has a priority for journald, an event, and values that stay in their place",
        arguments: [
            ([("code", "missing")], "<3>fault code=missing\n"),
            ([("message", "no such card; plug it in")], "<3>fault message=\"no such card; plug it in\"\n"),
            ([("message", "a \"b\" \\ c")], "<3>fault message=\"a \\\"b\\\" \\\\ c\"\n"),
            ([("message", "one\n<0>two")], "<3>fault message=\"one\\n<0>two\"\n"),
            ([("message", "\u{1B}[31m\u{7F}")], "<3>fault message=\" [31m \"\n"),
            ([("message", "")], "<3>fault message=\"\"\n"),
            ([("a", "b=c")], "<3>fault a=\"b=c\"\n"),
        ])
    func line(_ values: [(String, String)], _ expected: String) {
        let pair = values[0]
        #expect(Journal.line(.error, "fault", [pair.0: pair.1], marksPriority: true) == expected)
    }

    @Test("on a terminal there is no priority")
    func terminal() {
        #expect(Journal.line(.information, "ready", ["a": "b", "c": "d"], marksPriority: false) == "ready a=b c=d\n")
    }
}
