import Core
import FoundationEssentials

extension AdaptationState {
    /// The state as JSON; nil if a value is not a number.
    var json: String? { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } }

    /// Nil if the text cannot be decoded.
    init?(json: String) {
        guard let state = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)) else { return nil }
        self = state
    }
}
