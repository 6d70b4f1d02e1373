import Core
import FoundationEssentials

extension AdaptationState {
    /// As a column keeps it; nil where a value is no number.
    var json: String? { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } }

    /// Nil where it is none.
    init?(json: String) {
        guard let state = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)) else { return nil }
        self = state
    }
}
