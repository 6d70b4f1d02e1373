import Core
import FoundationEssentials
import System

/// The format of the control socket: one JSON object per line. Lines here do not include the line break.
enum ControlLine {
    /// The maximum size of a request, in bytes.
    static let maximumBytes = 65_536

    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding fails for none of this module's messages.
        return (try? encoder.encode(value)).map { Array($0) }
            ?? Array(#"{"error":{"code":"failed","message":""}}"#.utf8)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from line: [UInt8]) throws -> Value {
        try decodedJSON(type, from: line)
    }
}
