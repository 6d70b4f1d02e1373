/// Which audio tracks of a container to read.
package enum SoundTrack: Equatable, Sendable {
    /// The container's default track, or the first.
    case automatic
    /// A single track, counted from 1.
    case number(Int)
    /// All tracks. Two become separate channels; more are mixed into one.
    case all

    /// Parses `all` or a number from 1 to 99.
    package init?(_ text: String) {
        if text == "all" {
            self = .all
        } else if let number = Int(text), (1...99).contains(number) {
            self = .number(number)
        } else {
            return nil
        }
    }

    /// The text for `init(_:)`; nil for `automatic`.
    package var option: String? {
        switch self {
        case .automatic: nil
        case .number(let number): "\(number)"
        case .all: "all"
        }
    }
}
