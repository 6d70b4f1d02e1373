import Testing

@testable import Core
@testable import Transcripts

@Suite("Corrections saved by a page") struct CorrectionsFileTests {
    static let sound = String(repeating: "ab", count: 32)
    static let whole = """
        {"format":"fieldscribe-corrections","version":1,"recording":{"id":7,"sound":"\(sound)","pass":2},
        "editor":{"name":"Anna","saved":1795000000.5},"details":{"title":"At the\\nriver"},
        "segments":[{"id":4,"was":"the fort","text":"the  old ford","confirmed":[0,9,-1]},
        {"id":2,"was":"a","text":"a","checked":true}],
        "notes":[{"time":3.5,"text":"here"}],"marks":[{"time":9,"text":"b"},{"time":-1,"text":"a"}],
        "quotations":[{"start":1,"end":2,"text":"we","word":"idea","colour":"green"}]}
        """

    @Test("is read, alone or within its page")
    func read() throws {
        let file = try CorrectionsFile(Self.whole, name: "f")
        #expect(
            file.identity.recording == 7 && file.pass == 2 && file.person == "Anna" && file.savedAt == 1_795_000_000.5)
        #expect(file.edits.map(\.segment) == [2, 4] && file.edits[1].words == ["the", "old", "ford"])
        #expect(file.edits[1].confirmed == [0] && file.edits[0].confirmed == [0])
        #expect(file.annotations.title == "At the river" && file.annotations.marks?.map(\.text) == ["a", "b"])
        #expect(file.annotations.marks?.first?.position == .zero && file.annotations.quotations.first?.word == "idea")
        let page = "<!DOCTYPE html><script type=\"application/json\" id=\"corrections\">\(Self.whole)</script>"
        #expect(try CorrectionsFile(page, name: "f") == file)
        #expect(try CorrectionsFile(file.text, name: "f") == file)
    }

    @Test("valid names of people are applied")
    func speakers() throws {
        let text = Self.whole.replacing(
            #""details":"#,
            with: #""speakers":{"A":" Anna  River ","b":"Ben","C":" ","AA":"x","1":"y"},"details":"#)
        #expect(text != Self.whole)
        #expect(
            try CorrectionsFile(text, name: "c").annotations.speakers == ["A": "Anna River", "B": "Ben"])
        #expect(try CorrectionsFile(Self.whole, name: "c").annotations.speakers == nil)
    }

    @Test("a file truncated anywhere is refused in one line")
    func half() {
        for length in 0..<Self.whole.utf8.count {
            let error = refusal { () throws(DeviceError) in
                _ = try CorrectionsFile(String(decoding: Self.whole.utf8.prefix(length), as: UTF8.self), name: "f")
            }
            #expect(error?.message.hasPrefix("f: ") == true && error?.message.contains("\n") == false)
        }
    }

    @Test(
        "malicious content is refused",
        arguments: [
            ("\"version\":1", "\"version\":2"), ("\"version\":1", "\"version\":1e300"), ("\"id\":7", "\"id\":-7"),
            ("\"id\":7", "\"id\":\"7\""), ("fieldscribe-corrections", "other"), (sound, "ab"),
            (sound, String(repeating: "g", count: 64)), ("1795000000.5", "1e999"), ("\"id\":2", "\"id\":4"),
            ("3.5", "NaN"), ("\"Anna\"", "null"), ("\"Anna\"", "\"\\ud800\""),
            ("\"Anna\"", "\"" + String(repeating: "x", count: 70_000) + "\""), ("[0,9,-1]", "[1e400]"),
            ("\"notes\":[", "\"notes\":" + String(repeating: "[", count: 50_000)),
        ])
    func hostile(part: String, instead: String) {
        let error = refusal { () throws(DeviceError) in
            _ = try CorrectionsFile(Self.whole.replacing(part, with: instead), name: "f")
        }
        #expect(error?.message.utf8.count ?? 1_000 < 300)
    }

    @Test("unknown fields are skipped, and lists longer than a recording can have are refused")
    func long() throws {
        let more = Self.whole.replacing(
            "\"notes\":[", with: "\"x\":[\(String(repeating: "1,", count: 300_000))1],\"notes\":[")
        #expect(try CorrectionsFile(more, name: "f") == CorrectionsFile(Self.whole, name: "f"))
        let notes = String(repeating: #"{"time":1e300,"text":"a"},"#, count: 100_000)
        let error = refusal { () throws(DeviceError) in
            _ = try CorrectionsFile(Self.whole.replacing("\"notes\":[", with: "\"notes\":[\(notes)"), name: "f")
        }
        #expect(
            error?.message.contains("contains more than a recording can have") == true, "\(String(describing: error))")
        let escaped = Self.whole.replacing("\"Anna\"", with: #""\u0041nn\u00e9 \ud83d\ude00\b""#)
        #expect(try CorrectionsFile(escaped, name: "f").person == "Anné 😀")
    }
}
