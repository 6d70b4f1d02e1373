import Core
import TestKit
import Testing

@testable import Control

@Suite("Requests over the control socket") struct ControlRequestTests {
    static let lines: [(ControlRequest, String)] = [
        (.start, #"{"command":"start"}"#),
        (.pause, #"{"command":"pause"}"#),
        (.resume, #"{"command":"resume"}"#),
        (.mark(text: "here"), #"{"command":"mark","text":"here"}"#),
        (.watch(partials: true), #"{"command":"watch","partials":true}"#),
        (.exporting(.finished, message: "done"), #"{"command":"exporting","export":"finished","text":"done"}"#),
        (.open(key: "AGE", name: "key.txt"), #"{"command":"open","key":"AGE","name":"key.txt"}"#),
        (.lock, #"{"command":"lock"}"#),
        (.laptop(isConnected: true), #"{"command":"laptop","connected":true}"#),
        (.archive(.list, directory: "/a"), #"{"command":"list","directory":"/a"}"#),
        (.archive(.show(recording: 7), directory: nil), #"{"command":"show","recording":7}"#),
        (.archive(.search(words: "a b", limit: 3), directory: nil), #"{"command":"search","limit":3,"words":"a b"}"#),
        (.archive(.history(recording: 7), directory: nil), #"{"command":"history","recording":7}"#),
        (.archive(.history(recording: nil), directory: nil), #"{"command":"history"}"#),
        (
            .archive(.verify(recordings: [1, 2], isQuick: true), directory: nil),
            #"{"command":"verify","quick":true,"recordings":[1,2]}"#
        ),
        (
            .archive(.verify(recordings: [], isQuick: false), directory: nil),
            #"{"command":"verify","recordings":[]}"#
        ),
        (.archive(.exportsTo(volume: "v"), directory: nil), #"{"command":"exports","volume":"v"}"#),
        (.archive(.exportsOf(recording: 7), directory: nil), #"{"command":"exports","recording":7}"#),
    ]

    @Test("are lines that clients of earlier versions send and understand", arguments: lines)
    func wire(_ request: ControlRequest, _ line: String) throws {
        #expect(String(decoding: ControlLine.encode(request), as: UTF8.self) == line)
        #expect(try ControlLine.decode(ControlRequest.self, from: Array(line.utf8)) == request)
    }

    @Test(
        "have defaults for what a client leaves out",
        arguments: [
            (#"{"command":"mark"}"#, .mark(text: "")),
            (#"{"command":"watch"}"#, .watch(partials: false)),
            (#"{"command":"search","words":"a"}"#, .archive(.search(words: "a", limit: 50), directory: nil)),
            (#"{"command":"verify"}"#, .archive(.verify(recordings: [], isQuick: false), directory: nil)),
        ] as [(String, ControlRequest)])
    func defaults(_ line: String, _ request: ControlRequest) throws {
        #expect(try ControlLine.decode(ControlRequest.self, from: Array(line.utf8)) == request)
    }

    @Test("have a range for each of their fields, and none for what is no field")
    func ranges() {
        let strike = StrikeOrder(recording: 1, last: 1)
        let entry = ExportEntry(recording: 1, pass: 1, volume: "", folder: "", manifest: "", exportedAt: 0)
        let part = ImportPart(token: "", name: "", text: "", isLast: false, person: "", neighbour: nil)
        func names(_ value: Any) -> [String] { Mirror(reflecting: value).children.compactMap(\.label) }
        var fields = names(RequestObject(command: .start))
        for (name, value) in [("strike", strike), ("entry", entry), ("part", part)] as [(String, Any)] {
            fields += names(value).map { "\(name).\($0)" }
        }
        #expect(RequestField.all.map(\.name).sorted() == fields.sorted())
    }

    static let refused: [(String, String)] = [
        (
            #"{"command":"search","words":"the","limit":-1}"#,
            "limit: is out of range; give a whole number from 1 to 100000"
        ),
        (#"{"command":"search","limit":1e300}"#, "a number is not whole, or is out of range; give whole"),
        (#"{"command":"show","recording":-9223372036854775808}"#, "recording: is out of range; give"),
        (
            #"{"command":"show","recording":9223372036854775808}"#,
            "a number is not whole, or is out of range; give whole"
        ),
        (#"{"command":"delete","recordings":[1,-1]}"#, "recordings: is out of range; give at most 10000"),
        (#"{"command":"delete","recordings":[1,"x"]}"#, "recordings: has the wrong type"),
        (
            #"{"command":"strike","strike":{"last":-1}}"#,
            "strike.last: is out of range; give a number of seconds from 0"
        ),
        (#"{"command":"strike","strike":{"from":0,"to":1e300}}"#, "strike.to: is out of range"),
        (#"{"command":"strike","strike":7}"#, "strike: has the wrong type"),
        (#"{"command":"exported","entry":{}}"#, "entry.recording: is missing; give a whole number"),
        (#"{"command":"start","partials":1}"#, "partials: has the wrong type or is out of range; give true or false"),
        (#"{"command":"stop","limit":0}"#, "limit: is out of range"),
        (
            #"{"command":"importing","part":{"token":"t","name":"n","text":"\#(String(repeating: "x", count: 8_193))","#
                + #""isLast":true,"person":""}}"#, "part.text: is out of range; give a text of at most 8192 bytes"
        ),
    ]

    @Test("are refused in one line that names the field and what it may hold", arguments: refused)
    func outOfRange(_ line: String, _ told: String) throws {
        let error = try #require(thrown { _ = try ControlLine.decode(ControlRequest.self, from: Array(line.utf8)) })
        #expect(error.code == .unsupported && error.message.hasPrefix(told), "\(error.message)")
        #expect(!error.message.contains("\n"))
    }

    @Test("are refused where a copy is to be entered and none is given")
    func noEntry() {
        #expect(throws: DeviceError.self) {
            try ControlLine.decode(ControlRequest.self, from: Array(#"{"command":"exported"}"#.utf8))
        }
    }
}
