import FoundationEssentials
import System

/// Decodes a file of JSON that this or the measured program wrote.
func decoded<Value: Decodable>(_ type: Value.Type, from path: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(content(ofFile: path)))
}
