import Core
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

    @Test("are refused where a copy is to be entered and none is given")
    func noEntry() {
        #expect(throws: DeviceError.self) {
            try ControlLine.decode(ControlRequest.self, from: Array(#"{"command":"exported"}"#.utf8))
        }
    }
}
