import Testing

@testable import Core
@testable import Transcripts

@Suite("Corrections that a page saved") struct CorrectionsFileTests {
    static let sound = String(repeating: "ab", count: 32)
    static let completeFile = """
        {"format":"fieldscribe-corrections","version":1,"recording":{"id":7,"sound":"\(sound)","pass":2},
        "editor":{"name":"Anna","saved":1795000000.5},"details":{"title":"At the\\nriver"},
        "segments":[{"id":4,"was":"the fort","text":"the  old ford","confirmed":[0,9,-1]},
        {"id":2,"was":"a","text":"a","checked":true}],
        "notes":[{"time":3.5,"text":"here"}],"marks":[{"time":9,"text":"b"},{"time":-1,"text":"a"}],
        "quotations":[{"start":1,"end":2,"text":"we","word":"idea","colour":"green"}]}
        """

    @Test("the JSON is parsed, alone or within a page")
    func parsing() throws {
        let file = try CorrectionsFile(Self.completeFile, name: "f")
        #expect(
            file.identity.recording == 7 && file.pass == 2 && file.person == "Anna" && file.savedAt == 1_795_000_000.5)
        #expect(file.edits.map(\.segment) == [2, 4] && file.edits[1].words == ["the", "old", "ford"])
        #expect(file.edits[1].confirmed == [0] && file.edits[0].confirmed == [0])
        #expect(file.annotations.title == "At the river" && file.annotations.marks?.map(\.text) == ["a", "b"])
        #expect(file.annotations.marks?.first?.position == .zero && file.annotations.quotations.first?.word == "idea")
        let page = "<!DOCTYPE html><script type=\"application/json\" id=\"corrections\">\(Self.completeFile)</script>"
        #expect(try CorrectionsFile(page, name: "f") == file)
        #expect(try CorrectionsFile(file.text, name: "f") == file)
    }

    @Test("only names for valid speaker labels are imported")
    func speakers() throws {
        let text = Self.completeFile.replacing(
            #""details":"#,
            with: #""speakers":{"A":" Anna  River ","b":"Ben","C":" ","AA":"x","1":"y"},"details":"#)
        #expect(text != Self.completeFile)
        #expect(
            try CorrectionsFile(text, name: "c").annotations.speakers == ["A": "Anna River", "B": "Ben"])
        #expect(try CorrectionsFile(Self.completeFile, name: "c").annotations.speakers == nil)
    }

    static let dividedFile = completeFile.replacing("\"version\":1", with: "\"version\":2")
        .replacing("[0,9,-1]", with: #"[],"breaks":[2,1,1,0,3,-1]"#).replacing(
            #""checked":true"#, with: #""joined":true"#
        )
        .replacing(
            #""notes":"#,
            with: """
                "turns":[{"start":4,"end":6,"speaker":"b"},{"start":0,"end":4,"speaker":"A"},
                {"start":1,"end":2,"speaker":"B"},{"start":7,"end":8,"speaker":"??"}],"notes":
                """)

    @Test("split lines, joined lines and turns are parsed; only files that contain any of them have version 2")
    func linesAndTurns() throws {
        let file = try CorrectionsFile(Self.dividedFile, name: "f")
        #expect(file.edits[1].breaks == [1, 2] && !file.edits[1].isJoined && file.isDivided)
        #expect(file.edits[0].breaks == [] && file.edits[0].isJoined)
        let turns = try #require(file.annotations.turns)
        #expect(turns.turns.map(\.speaker) == [0, 1] && turns.turns[1].range.start == SamplePosition(seconds: 4))
        #expect(turns.alongside.map(\.speaker) == [1])
        #expect(try CorrectionsFile(file.text, name: "f") == file)
        #expect(file.text.contains(#""version":2"#))
        let plain = try CorrectionsFile(Self.completeFile, name: "f")
        #expect(plain.text.contains(#""version":1"#) && plain.annotations.turns == nil && !plain.isDivided)
        #expect(!["breaks", "joined", "turns"].contains { plain.text.contains("\"\($0)\"") })
        #expect(
            refusal { () throws(DeviceError) in
                _ = try CorrectionsFile(Self.dividedFile.replacing("[2,1,1,0,3,-1]", with: "[1e400]"), name: "f")
            } != nil)
    }

    @Test("lines are split before the given words, and joined to the previous line")
    func splitAndJoinedLines() throws {
        func line(_ id: Int, _ start: Double, _ words: String) -> Segment {
            let texts = words.split(separator: " ").map(String.init)
            return Segment(
                id: id,
                range: SampleRange(
                    SamplePosition(seconds: start), SamplePosition(seconds: start + Double(texts.count))),
                words: texts.enumerated().map {
                    Word(
                        $1,
                        SampleRange(
                            SamplePosition(seconds: start + Double($0)),
                            SamplePosition(seconds: start + Double($0) + 0.8)),
                        confidence: 0.5)
                }, endedBy: .silence)
        }
        let old = [line(1, 0, "we"), line(2, 10, "a"), line(4, 20, "the fort"), line(9, 30, "is there")]
        let file = try CorrectionsFile(Self.dividedFile, name: "f")
        let lines = file.divided(file.lines(over: old))
        #expect(lines.map(\.segment.text) == ["we a", "the", "old", "ford", "is there"])
        #expect(lines.map(\.segment.id) == [1, 2, 3, 4, 5] && lines.flatMap(\.changes).map(\.segment) == [3])
        #expect(lines[0].segment.range == SampleRange(.zero, SamplePosition(seconds: 11)))
        #expect(lines[1].segment.range.start == SamplePosition(seconds: 20))
        #expect(lines[3].segment.range.end == SamplePosition(seconds: 22))
        #expect(zip(lines, lines.dropFirst()).allSatisfy { $0.segment.range.end <= $1.segment.range.start })
        for line in lines.map(\.segment) {
            #expect(line.words.allSatisfy { $0.range.start >= line.range.start && $0.range.end <= line.range.end })
        }
        let plain = try CorrectionsFile(Self.completeFile, name: "f")
        #expect(plain.divided(plain.lines(over: old)).map(\.segment.id) == [1, 2, 4, 9])
    }

    @Test("a file truncated anywhere is refused with a message of one line")
    func truncatedFile() {
        for length in 0..<Self.completeFile.utf8.count {
            let text = String(decoding: Self.completeFile.utf8.prefix(length), as: UTF8.self)
            let error = refusal { () throws(DeviceError) in _ = try CorrectionsFile(text, name: "f") }
            #expect(error?.message.hasPrefix("f: ") == true && error?.message.contains("\n") == false)
        }
    }

    @Test("only a later version is refused as unsupported", arguments: [-1, 0, 3])
    func version(_ version: Int) {
        let error = refusal { () throws(DeviceError) in
            _ = try CorrectionsFile(
                Self.completeFile.replacing("\"version\":1", with: "\"version\":\(version)"), name: "f")
        }
        let code: DeviceError.Code = version > 0 ? .unsupported : .damaged
        #expect(error?.code == code, "\(error?.message ?? "")")
    }

    @Test(
        "malicious content is refused",
        arguments: [
            ("\"version\":1", "\"version\":3"), ("\"version\":1", "\"version\":1e300"), ("\"id\":7", "\"id\":-7"),
            ("\"id\":7", "\"id\":\"7\""), ("fieldscribe-corrections", "other"), (sound, "ab"),
            (sound, String(repeating: "g", count: 64)), ("1795000000.5", "1e999"), ("\"id\":2", "\"id\":4"),
            ("3.5", "NaN"), ("\"Anna\"", "null"), ("\"Anna\"", "\"\\ud800\""),
            ("\"Anna\"", "\"" + String(repeating: "x", count: 70_000) + "\""), ("[0,9,-1]", "[1e400]"),
            ("\"notes\":[", "\"notes\":" + String(repeating: "[", count: 50_000)),
        ] as [(String, String)])
    func maliciousContent(part: String, replacement: String) {
        let error = refusal { () throws(DeviceError) in
            _ = try CorrectionsFile(Self.completeFile.replacing(part, with: replacement), name: "f")
        }
        #expect(error?.message.utf8.count ?? 1_000 < 300)
    }

    @Test("unknown fields are skipped, and lists too long for any recording are refused")
    func longLists() throws {
        let more = Self.completeFile.replacing(
            "\"notes\":[", with: "\"x\":[\(String(repeating: "1,", count: 300_000))1],\"notes\":[")
        #expect(try CorrectionsFile(more, name: "f") == CorrectionsFile(Self.completeFile, name: "f"))
        let notes = String(repeating: #"{"time":1e300,"text":"a"},"#, count: 100_000)
        let error = refusal { () throws(DeviceError) in
            _ = try CorrectionsFile(Self.completeFile.replacing("\"notes\":[", with: "\"notes\":[\(notes)"), name: "f")
        }
        #expect(
            error?.message.contains("contains more than any recording") == true, "\(String(describing: error))")
        let escaped = Self.completeFile.replacing("\"Anna\"", with: #""\u0041nn\u00e9 \ud83d\ude00\b""#)
        #expect(try CorrectionsFile(escaped, name: "f").person == "Anné 😀")
    }
}
