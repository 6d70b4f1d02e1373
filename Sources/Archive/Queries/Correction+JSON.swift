import Core
import FoundationEssentials
import System

extension Correction {
    /// Decodes the database's JSON; nil if that is damaged.
    init?(json: String) {
        guard let kept = try? JSONDecoder().decode(Correction.self, from: Data(JSONStrings.check(Array(json.utf8))))
        else { return nil }
        self = kept
    }

    /// The JSON that the database keeps.
    func json() throws -> String { String(try jsonText(self).dropLast()) }
}
