import Testing

@testable import Appliance
@testable import Core

@Suite("Hostile JSON") struct HostileJSONTests {
    static let illFormedKeys: [[UInt8]] = [
        [0xFF], [0xC3], [0x00], [0x1F], Array("\\x".utf8), Array("\\u12".utf8), Array("\\ud800".utf8),
        Array("\\udc00".utf8), Array("\\ud800\\u0041".utf8), Array("\\".utf8),
    ]

    @Test("a request with an ill-formed key is refused, and the program continues", arguments: illFormedKeys)
    func illFormedKey(_ key: [UInt8]) {
        func line(_ key: [UInt8]) -> [UInt8] {
            Array(#"{"command":"status",""#.utf8) + key + Array(#"":1}"#.utf8)
        }
        #expect(throws: Never.self) { try ControlLine.decode(ControlRequest.self, from: line(Array("unknown".utf8))) }
        #expect(!JSONStrings.areWellFormed(in: line(key)))
        #expect(throws: (any Error).self) { try ControlLine.decode(ControlRequest.self, from: line(key)) }
    }

    static let wellFormedTexts = [
        #"{"a":"\"\\\/\b\f\n\r\t\u00e9"}"#, #"{"ü":"\uD83C\uDFA4"}"#, "{\n \"a\" : 1 }", #""""#, "", "[1]",
    ]

    @Test("well-formed JSON is accepted", arguments: wellFormedTexts)
    func acceptsWellFormed(_ text: String) { #expect(JSONStrings.areWellFormed(in: Array(text.utf8))) }
}
