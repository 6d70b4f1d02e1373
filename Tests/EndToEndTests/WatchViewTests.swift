import Testing

@testable import fieldscribe
@testable import System

@Suite("Terminal output") struct TerminalTests {
    @Test("control characters in text are replaced, and words stay unchanged")
    func plain() {
        #expect(Terminal.plain("a\u{1B}]0;title\u{07}b\u{9B}2J\rc") == "a\u{FFFD}]0;title\u{FFFD}b\u{FFFD}2J\u{FFFD}c")
        #expect(Terminal.plain("a\u{202E}cba\u{202C} \u{2067}b\u{2069}") == "a\u{FFFD}cba\u{FFFD} \u{FFFD}b\u{FFFD}")
        for text in ["", "naïve 👩‍🚀\tit's\n", "مرحبا", "a,b\r\nc,d\r\n"] { #expect(Terminal.plain(text) == text) }
    }
}

@Suite("The screen of watch") struct WatchViewTests {
    /// A simulated terminal and the lines that it shows.
    private struct Screen {
        var width: Int
        var lines = [""]
        var row = 0
        var hasWrapped = false

        mutating func write(_ text: String) {
            var rest = text[...]
            while let character = rest.popFirst() {
                switch character {
                case "\r\n":
                    row += 1
                    if row == lines.count { lines.append("") }
                    column = 0
                case "\r": column = 0
                case "\u{1B}":
                    rest = rest.dropFirst()
                    let parameters = rest.prefix { !$0.isLetter }
                    let command = rest.dropFirst(parameters.count).first
                    rest = rest.dropFirst(parameters.count + 1)
                    if command == "A" { row -= Int(parameters) ?? 1 }
                    if command == "J" {
                        lines.removeSubrange((row + 1)...)
                        lines[row] = String(lines[row].prefix(column))
                    }
                default:
                    if column == width { hasWrapped = true }
                    lines[row] = String(lines[row].prefix(column)) + String(character)
                    column += 1
                }
            }
        }

        var column = 0
    }

    private func event(_ json: String) throws -> WatchEvent { try #require(WatchEvent(json)) }

    @Test("partial text of any length is replaced, and final text stays", arguments: [20, 21, 40, 80, 200])
    func replacing(_ width: Int) throws {
        var view = WatchView(width: width)
        var screen = Screen(width: width)
        screen.write(view.apply(try event(#"{"event":"state","state":"recording"}"#)))
        var words = ""
        for number in 1...120 {
            words += "word\(number) "
            screen.write(view.apply(try event(#"{"event":"partial","start":5,"end":6,"text":"\#(words)"}"#)))
            screen.write(view.apply(try event(#"{"event":"level","rms":-20,"peak":-3}"#)))
            #expect(screen.lines.count <= 7 && screen.lines.contains { $0.contains("word\(number)") })
        }
        screen.write(view.apply(try event(#"{"event":"final","start":5,"end":6,"text":"quite certain"}"#)))
        screen.write(view.apply(try event(#"{"event":"mark","time":7,"text":"\#("here ".dropLast())"}"#)))
        screen.write(view.close())
        let shown = screen.lines.map { $0.trimmingSuffix { $0 == " " } }.filter { !$0.isEmpty }
        #expect(shown.first?.hasPrefix("00:05  quite") ?? false)
        #expect(shown.joined(separator: " ").contains("mark: here"))
        #expect(!shown.contains { $0.contains("word") || $0.contains("█") })
        #expect(!screen.hasWrapped)
    }

    @Test("a final text removes the partial text of its own group only")
    func nextGroup() throws {
        var view = WatchView(width: 80, isStyled: false)
        _ = view.apply(try event(#"{"event":"partial","segment":3,"start":5,"end":6,"text":"next words"}"#))
        let earlier = view.apply(try event(#"{"event":"final","segment":2,"start":1,"end":4,"text":"said"}"#))
        #expect(earlier.contains("said") && earlier.contains("next words"))
        let result = view.apply(try event(#"{"event":"final","segment":3,"start":5,"end":6,"text":"quite certain"}"#))
        #expect(result.contains("quite certain") && !result.contains("next words"))
    }

    @Test("wrapping keeps leading spaces")
    func indentation() {
        #expect(Terminal.wrapped("    ~  had he", to: 40, hanging: 7) == ["    ~  had he"])
        #expect(Terminal.wrapped("    ~  had he married", to: 20, hanging: 7) == ["    ~  had he", "       married"])
    }

    @Test("wrapping to few columns terminates and keeps all words", arguments: [0, 1, 2, 3, 8, 11, 12, 13, 20])
    func fewColumns(width: Int) {
        let text = "usage: fieldscribe list 漢字 [--directory DIR]"
        for hanging in [0, 7, 11, 40] {
            let lines = Terminal.wrapped(text, to: width, hanging: hanging)
            #expect(lines.joined().filter { $0 != " " } == text.filter { $0 != " " })
        }
    }

    @Test("the view works on a very narrow terminal", arguments: [1, 2, 3, 8])
    func narrow(width: Int) throws {
        var view = WatchView(width: width)
        for line in [
            #"{"event":"state","state":"idle"}"#, #"{"event":"state","state":"recording"}"#,
            #"{"event":"partial","start":5,"end":6,"text":"some words"}"#, #"{"event":"level","rms":-20,"peak":-3}"#,
        ] { _ = view.apply(try event(line)) }
        _ = view.close()
    }

    @Test("without styles, the view writes no color or style sequences")
    func unstyled() throws {
        var view = WatchView(width: 80, isStyled: false)
        var written = ""
        for line in [
            #"{"event":"state","state":"recording"}"#, #"{"event":"partial","start":5,"end":6,"text":"some words"}"#,
            #"{"event":"level","rms":-20,"peak":-0.5}"#, #"{"event":"fault","code":"full","message":"the disk"}"#,
        ] { written += view.apply(try event(line)) }
        written += view.close()
        #expect(written.contains("some words") && !written.contains(/\u{1B}\[[0-9]+m/))
    }

    @Test("styles are used unless NO_COLOR or the terminal forbids them; control characters in text are replaced")
    func styledText() {
        func allows(_ variables: [String: String]) -> Bool { Terminal.allowsStyles { variables[$0] } }
        #expect(allows([:]) && allows(["NO_COLOR": "", "TERM": "xterm"]))
        #expect(!allows(["NO_COLOR": "1"]) && !allows(["TERM": "dumb"]))
        let text: StyledText = "\("00:05", .dim)  \("a\u{1B}[31mb", .bold)\("", .bold) c"
        #expect(text.plain == "00:05  a\u{1B}[31mb c")
        #expect(text.styled == "\u{1B}[2m00:05\u{1B}[0m  \u{1B}[1ma\u{FFFD}[31mb\u{1B}[0m c")
    }

    @Test("matches of a search are bold instead of in brackets, but the text's own brackets stay")
    func bold() {
        let text = SearchCommand.marked("he [made] it [laughs] [ami", of: "he made it [laughs] [amiable]")
        #expect(text.styled == "he \u{1B}[1mmade\u{1B}[0m it [laughs] [ami")
    }

    @Test("a bookmark's text does not move the cursor")
    func controlCharacters() throws {
        var view = WatchView(width: 80)
        let written = view.apply(try event(#"{"event":"mark","time":7,"text":"a\u001b[2Jb\u0007c"}"#))
        #expect(written.contains("a[2Jbc"))
    }
}

extension String {
    fileprivate func trimmingSuffix(while predicate: (Character) -> Bool) -> String {
        var text = self[...]
        while let last = text.last, predicate(last) { text = text.dropLast() }
        return String(text)
    }
}
