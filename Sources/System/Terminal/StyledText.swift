import Core
import Glibc

/// An attribute for text on a terminal.
package enum TextStyle: String, Sendable {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"

    /// Returns text with escape sequences for this attribute; unchanged if the text is empty or `isOn` is false.
    package func apply(to text: String, if isOn: Bool = true) -> String {
        isOn && !text.isEmpty ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}

/// Text with attributes on some pieces. Attributes become escape sequences. Control characters in the pieces are
/// replaced, so that the pieces themselves cannot contain escape sequences.
package struct StyledText: ExpressibleByStringInterpolation, Sendable {
    /// The text without attributes.
    package private(set) var plain = ""
    /// The text with escape sequences for its attributes.
    package private(set) var styled = ""

    /// Creates a text without attributes.
    package init(stringLiteral text: String) { append(text) }

    /// Creates a text from an interpolated string.
    package init(stringInterpolation parts: StringInterpolation) { self = parts.text }

    /// Appends text, with an attribute if `style` is not nil.
    package mutating func append(_ text: String, _ style: TextStyle? = nil) {
        plain += text
        let text = Terminal.plain(text)
        styled += style?.apply(to: text) ?? text
    }

    /// Supports strings such as `"\(time, .dim)  \(text)"`.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = StyledText(stringLiteral: "")

        /// Creates an empty text.
        package init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends a literal part of the string.
        package mutating func appendLiteral(_ text: String) { self.text.append(text) }

        /// Appends text, with an attribute if `style` is not nil.
        package mutating func appendInterpolation(_ text: String, _ style: TextStyle? = nil) {
            self.text.append(text, style)
        }

        /// Appends styled text.
        package mutating func appendInterpolation(_ other: StyledText) {
            text.plain += other.plain
            text.styled += other.styled
        }
    }
}

extension Terminal {
    package static let stylesOutput = showsOutput && allowsStyles(environmentVariable)
    package static let stylesErrors = showsErrors && allowsStyles(environmentVariable)

    /// Returns whether the environment allows attributes. A nonempty `NO_COLOR` forbids them: https://no-color.org.
    static func allowsStyles(_ environment: (String) -> String?) -> Bool {
        (environment("NO_COLOR") ?? "").isEmpty && environment("TERM") != "dumb"
    }

    /// Writes a result to standard output: the plain text to a file or pipe; on a terminal, the text without control
    /// characters, and with attributes if they are allowed.
    ///
    /// - Throws: `DeviceError`, with `full` if the file cannot grow.
    package static func print(styled text: StyledText) throws(DeviceError) {
        guard stylesOutput else { return try print(text.plain) }
        try TerminalStatusLine.whileCleared { () throws(DeviceError) in try paint(text.styled) }
    }
}
