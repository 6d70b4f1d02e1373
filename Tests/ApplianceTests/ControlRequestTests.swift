import Testing
import TestKit

@testable import Appliance
@testable import Core

@Suite("Requests over the control socket") struct ControlRequestTests {
    static let encodedRequests: [(ControlRequest, String)] = [
        (.command(.start), #"{"command":"start"}"#),
        (.command(.pause), #"{"command":"pause"}"#),
        (.command(.resume), #"{"command":"resume"}"#),
        (.command(.mark(text: "here")), #"{"command":"mark","text":"here"}"#),
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
        (
            .archive(.adding(folder: "fieldscribe-adding-1-a"), directory: nil),
            #"{"command":"adding","name":"fieldscribe-adding-1-a"}"#
        ),
        (.archive(.exportsOf(recording: 7), directory: nil), #"{"command":"exports","recording":7}"#),
    ]

    @Test("requests are encoded as lines that earlier versions send and understand", arguments: encodedRequests)
    func encoding(_ request: ControlRequest, _ line: String) throws {
        #expect(String(decoding: ControlLine.encode(request), as: UTF8.self) == line)
        #expect(try ControlLine.decode(ControlRequest.self, from: Array(line.utf8)) == request)
    }

    @Test(
        "omitted fields have defaults",
        arguments: [
            (#"{"command":"mark"}"#, .command(.mark(text: ""))),
            (#"{"command":"watch"}"#, .watch(partials: false)),
            (#"{"command":"search","words":"a"}"#, .archive(.search(words: "a", limit: 50), directory: nil)),
            (#"{"command":"verify"}"#, .archive(.verify(recordings: [], isQuick: false), directory: nil)),
        ] as [(String, ControlRequest)])
    func omittedFields(_ line: String, _ request: ControlRequest) throws {
        #expect(try ControlLine.decode(ControlRequest.self, from: Array(line.utf8)) == request)
    }

    @Test("the table of allowed values has exactly the fields of requests")
    func ranges() {
        func names(_ value: Any) -> [String] { Mirror(reflecting: value).children.compactMap(\.label) }
        var fields = names(RequestObject(command: .start))
        fields += names(RedactionRequest(recording: 1, last: 1)).map { "strike.\($0)" }
        fields += ExportEntry.CodingKeys.allCases.map { "entry.\($0.rawValue)" }
        fields += ImportPart.CodingKeys.allCases.map { "part.\($0.rawValue)" }
        #expect(RequestField.all.map(\.name).sorted() == fields.sorted())
    }

    static let refusedRequests: [(String, String)] = [
        (
            #"{"command":"search","words":"the","limit":-1}"#,
            "limit: is out of range; give a whole number from 1 to 100000"
        ),
        (#"{"command":"search","limit":1e300}"#, "a number is fractional or out of range; give whole"),
        (#"{"command":"show","recording":-9223372036854775808}"#, "recording: is out of range; give"),
        (
            #"{"command":"show","recording":9223372036854775808}"#,
            "a number is fractional or out of range; give whole"
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
                + #""isLast":true,"person":""}}"#, "part.text: is out of range; give text of at most 8192 bytes"
        ),
    ]

    @Test("a value that is not allowed is refused in one line that says what is allowed", arguments: refusedRequests)
    func outOfRange(_ line: String, _ beginning: String) throws {
        let error = try #require(thrown { _ = try ControlLine.decode(ControlRequest.self, from: Array(line.utf8)) })
        #expect(error.code == .unsupported && error.message.hasPrefix(beginning), "\(error.message)")
        #expect(!error.message.contains("\n"))
    }

    @Test("a text is split between Unicode scalars and joined again")
    func chunks() throws {
        let texts = [
            "", "short", String(repeating: "ü", count: 9_000), "e" + String(repeating: "\u{301}", count: 20_000),
            String(repeating: "👩‍🚀", count: 3_000), String(repeating: "a\r\n", count: 8_191),
        ]
        for text in texts {
            let chunks = ImportPart.chunks(of: text)
            #expect(chunks.allSatisfy { $0.text.utf8.count <= ImportPart.maximumTextBytes })
            #expect(chunks.map(\.isLast) == chunks.indices.map { $0 == chunks.count - 1 })
            var imported = ImportedTexts()
            var joined: String?
            for chunk in chunks {
                joined = try imported.append(Self.part("t", String(chunk.text), isLast: chunk.isLast), from: 1)
            }
            let isUnchanged = joined.map { Array($0.utf8) == Array(text.utf8) }
            #expect(isUnchanged == true && imported.bytes == 0)
        }
    }

    private static func part(_ token: String, _ text: String, isLast: Bool = false) -> ImportPart {
        ImportPart(token: token, name: "a.txt", text: text, isLast: isLast, person: "", siblingIdentity: nil)
    }

    @Test("unfinished imports are separate for each client, have a common limit, and are dropped with their client")
    func importLimits() throws {
        var texts = ImportedTexts()
        #expect(try texts.append(Self.part("a", "one "), from: 1) == nil)
        #expect(try texts.append(Self.part("a", "three "), from: 2) == nil)
        #expect(try texts.append(Self.part("a", "two", isLast: true), from: 1) == "one two")
        // A new token begins a new file.
        #expect(try texts.append(Self.part("b", "four", isLast: true), from: 2) == "four")
        let chunk = String(repeating: "x", count: ImportPart.maximumTextBytes)
        for _ in 0..<(ImportedTexts.maximumBytes / chunk.utf8.count - 1) {
            _ = try texts.append(Self.part("c", chunk), from: 1)
        }
        _ = try texts.append(Self.part("d", chunk), from: 2)
        #expect(texts.bytes == ImportedTexts.maximumBytes)
        #expect(thrown { _ = try texts.append(Self.part("d", "x"), from: 2) }?.code == .busy)
        #expect(texts.bytes == ImportedTexts.maximumBytes - chunk.utf8.count)
        _ = try texts.append(Self.part("c", chunk), from: 1)
        #expect(thrown { _ = try texts.append(Self.part("c", "x"), from: 1) }?.code == .unsupported)
        #expect(texts.bytes == 0)
        _ = try texts.append(Self.part("e", chunk), from: 3)
        texts.drop(3)
        #expect(texts.bytes == 0)
    }

    @Test("a request that reports a copy but has no entry is refused")
    func missingEntry() {
        #expect(throws: DeviceError.self) {
            try ControlLine.decode(ControlRequest.self, from: Array(#"{"command":"exported"}"#.utf8))
        }
    }
}
