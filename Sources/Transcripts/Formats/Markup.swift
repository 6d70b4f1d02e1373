/// Escapes text for content and quoted attributes of XML and HTML; characters that are invalid there become U+FFFD.
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

/// Returns a file name as a relative link of one path segment.
func relativeLink(_ name: String) -> String { "./\(percentEncoded(name))" }

/// Percent-encodes a file name or a value of a query.
package func percentEncoded(_ name: String) -> String {
    let digits = Array("0123456789ABCDEF")
    var link = ""
    for byte in name.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            link.unicodeScalars.append(Unicode.Scalar(byte))
        default: link += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }
    }
    return link
}
