import Core

/// The words only, a line per segment that has any; more where somebody asked for a new line.
func plainText(_ timeline: Timeline) -> String {
    timeline.segments.map { segment in
        var lines = segment.text.split(separator: Punctuator.newLine, omittingEmptySubsequences: false)
            .map { oneLine(String($0)) }
        if lines.last == "" { lines.removeLast() }
        return lines.map { $0 + "\n" }.joined()
    }.joined()
}

/// A text as part of one line: what could end the line or the text is a space, and there is one space at a time.
func oneLine(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator: scalars.append(" ")
        default: scalars.append(scalar)
        }
    }
    return String(scalars).split(separator: " ").joined(separator: " ")
}
