import Core

/// The words only, a line per segment that has any.
func plainText(_ timeline: Timeline) -> String {
    timeline.segments.map { oneLine($0.text) }.filter { !$0.isEmpty }.map { $0 + "\n" }.joined()
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
