/// The configured address of the button or lamp.
package enum PanelAddress: Hashable, Sendable, CustomStringConvertible {
    /// A GPIO line by name, on any chip: `gpio:GPIO17`.
    case gpioName(String)

    /// A GPIO line by its offset on a chip: `gpio:gpiochip0/17`. The chip is a name, label or number.
    case gpioOffset(chip: String, offset: Int)

    /// Simulated through the control socket: `sim:`.
    case sim
    case none

    /// The valid formats, for messages.
    package static let forms = "gpio:NAME, gpio:CHIP/OFFSET, sim: or none"

    /// Parses an address; returns nil if its format is not valid.
    package init?(_ text: String) {
        switch text {
        case "sim:": self = .sim
        case "none": self = .none
        case _ where text.hasPrefix("gpio:"):
            let line = text.dropFirst("gpio:".count)
            guard let slash = line.lastIndex(of: "/") else {
                guard !line.isEmpty else { return nil }
                self = .gpioName(String(line))
                return
            }
            let (chip, digits) = (line[..<slash], line[line.index(after: slash)...])
            // A chip has fewer than 65,536 lines.
            guard !chip.isEmpty, digits.utf8.allSatisfy(\.isASCIIDigit), let offset = UInt16(digits)
            else { return nil }
            self = .gpioOffset(chip: String(chip), offset: Int(offset))
        default: return nil
        }
    }

    package var description: String {
        switch self {
        case .gpioName(let name): "gpio:\(name)"
        case .gpioOffset(let chip, let offset): "gpio:\(chip)/\(offset)"
        case .sim: "sim:"
        case .none: "none"
        }
    }
}
