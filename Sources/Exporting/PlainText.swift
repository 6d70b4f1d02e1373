import Core

/// The words only, a line per segment that has any; more where somebody asked for a new line. Where not everything was
/// read yet a last line says so.
func plainText(_ timeline: Timeline) -> String {
    let rest = unwrittenText(timeline).map { "[\($0)]\n" } ?? ""
    return timeline.segments.map { segment in
        var lines = segment.text.split(separator: Punctuator.newLine, omittingEmptySubsequences: false)
            .map { oneLine(String($0)) }
        if lines.last == "" { lines.removeLast() }
        return lines.map { $0 + "\n" }.joined()
    }.joined() + rest
}

/// How far the text has come, in words; nil where it has come to the end.
package func unwrittenText(_ timeline: Timeline) -> String? {
    timeline.unwritten.map { rest in
        rest.start == .zero
            ? "not written down yet: \(clockTime(timeline.length))"
            : "written down as far as \(clockTime(rest.start)) of \(clockTime(timeline.length))"
    }
}

/// A text as part of one line: what could end the line or the text is a space, and there is one space at a time.
package func oneLine(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator: scalars.append(" ")
        default: scalars.append(scalar)
        }
    }
    return String(scalars).split(separator: " ").joined(separator: " ")
}
