/// The audio tracks of a container to read.
package enum SoundTrack: Equatable, Sendable {
    /// The container's default, or the first.
    case automatic
    /// Counted from 1.
    case number(Int)
    /// All tracks: two as separate channels, more mixed into one.
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

    /// The text that `init` parses; nil for the default.
    package var option: String? {
        switch self {
        case .automatic: nil
        case .number(let number): "\(number)"
        case .all: "all"
        }
    }
}
