import Core
import Glibc

/// An attribute of a text on a terminal.
package enum TextStyle: String, Sendable {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"

    /// Returns a text with this attribute, by escape sequences; unchanged if it is empty or not `isOn`.
    package func apply(to text: String, if isOn: Bool = true) -> String {
        isOn && !text.isEmpty ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}

/// A text with attributes on some pieces. Only attributes become escape sequences; those in a piece have no effect.
package struct StyledText: ExpressibleByStringInterpolation, Sendable {
    /// Without attributes.
    package private(set) var plain = ""
    /// With attributes, and without control characters of the pieces.
    package private(set) var styled = ""

    /// A text without attributes.
    package init(stringLiteral text: String) { append(text) }

    /// The text of its parts.
    package init(stringInterpolation parts: StringInterpolation) { self = parts.text }

    /// Appends a text, with an attribute if `style` is not nil.
    package mutating func append(_ text: String, _ style: TextStyle? = nil) {
        plain += text
        let text = Terminal.plain(text)
        styled += style?.apply(to: text) ?? text
    }

    /// `"\(time, .dim)  \(text)"`
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = StyledText(stringLiteral: "")

        /// Starts with no part.
        package init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends the program's own text.
        package mutating func appendLiteral(_ text: String) { self.text.append(text) }

        /// Appends a text, with an attribute if `style` is not nil.
        package mutating func appendInterpolation(_ text: String, _ style: TextStyle? = nil) {
            self.text.append(text, style)
        }

        /// Appends a text with its attributes.
        package mutating func appendInterpolation(_ other: StyledText) {
            text.plain += other.plain
            text.styled += other.styled
        }
    }
}

extension Terminal {
    package static let stylesOutput = showsOutput && allowsStyles(environmentVariable)
    package static let stylesErrors = showsErrors && allowsStyles(environmentVariable)

    /// Whether the environment allows attributes. `NO_COLOR` forbids them if it is not empty: https://no-color.org.
    static func allowsStyles(_ environment: (String) -> String?) -> Bool {
        (environment("NO_COLOR") ?? "").isEmpty && environment("TERM") != "dumb"
    }

    /// Writes a result: unchanged to a file or pipe; to a terminal without control characters, and with attributes if it shows
    /// them.
    ///
    /// - Throws: `DeviceError`, with `full` if the file cannot grow.
    package static func print(styled text: StyledText) throws(DeviceError) {
        guard stylesOutput else { return try print(text.plain) }
        try TerminalStatusLine.whileCleared { () throws(DeviceError) in try paint(text.styled) }
    }
}
