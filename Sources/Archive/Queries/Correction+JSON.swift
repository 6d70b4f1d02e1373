import Core
import FoundationEssentials

extension Correction {
    /// As the database keeps it; nil where that is damaged.
    init?(json: String) {
        guard let kept = try? JSONDecoder().decode(Correction.self, from: Data(JSONStrings.check(Array(json.utf8))))
        else { return nil }
        self = kept
    }

    /// As the database keeps it.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
