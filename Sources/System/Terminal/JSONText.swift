import Core
import FoundationEssentials

/// Encodes a JSON document that ends in a newline, as used in transcript files, the page and command output.
package func jsonText(_ value: some Encodable, isIndented: Bool = false) throws -> String {
    try jsonObject(value, isIndented: isIndented) + "\n"
}

/// Encodes a JSON document without a final newline, on one line unless indented. Equal values result in equal bytes.
package func jsonObject(_ value: some Encodable, isIndented: Bool = false) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if isIndented { encoder.outputFormatting.insert(.prettyPrinted) }
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

/// Decodes untrusted JSON.
///
/// - Throws: An error if a string is ill-formed (see `JSONStrings`) or the value does not match the type.
package func decodedJSON<Value: Decodable>(_ type: Value.Type, from bytes: some Collection<UInt8>) throws -> Value {
    try JSONDecoder().decode(type, from: Data(JSONStrings.check(Array(bytes))))
}
