/// Which of a container's tracks with sound are read.
package enum SoundTrack: Equatable, Sendable {
    /// The container's default, or the first.
    case automatic
    /// Counted from 1.
    case number(Int)
    /// Each as a channel of its own if there are two; mixed if there are more.
    case all

    /// Reads `all` or a number from 1 to 99; nil for anything else.
    package init?(_ text: String) {
        if text == "all" {
            self = .all
        } else if let number = Int(text), (1...99).contains(number) {
            self = .number(number)
        } else {
            return nil
        }
    }

    /// As `init` reads it; nil for the default.
    package var option: String? {
        switch self {
        case .automatic: nil
        case .number(let number): "\(number)"
        case .all: "all"
        }
    }
}
