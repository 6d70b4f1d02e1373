import Core

/// Escapes text for content and quoted attributes in XML and HTML; invalid characters become U+FFFD.
package func markup(_ text: String) -> String {
    var escaped = ""
    escaped.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
        switch scalar {
        case "&": escaped += "&amp;"
        case "<": escaped += "&lt;"
        case ">": escaped += "&gt;"
        case "\"": escaped += "&quot;"
        case "'": escaped += "&#39;"
        case "\u{9}", "\u{A}", "\u{D}": escaped += "&#\(scalar.value);"
        case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
        default: escaped.unicodeScalars.append(scalar)
        }
    }
    return escaped
}

/// Returns a relative link to a file in the same folder.
func relativeLink(_ name: String) -> String { "./\(percentEncoded(name))" }

/// Percent-encodes a file name or a value in a query.
package func percentEncoded(_ name: String) -> String {
    name.utf8.map { byte in
        let character = Character(Unicode.Scalar(byte))
        let isPlain = character.isASCIIAlphanumeric || "-._".contains(character)
        return isPlain ? String(character) : "%" + byte.padded(to: 2, radix: 16).uppercased()
    }.joined()
}
