import Core

extension TranscriptFormat {
    /// Markdown for notes and wikis (CommonMark).
    package static let markdown = TranscriptFormat(
        "markdown", fileExtension: "md", isUsual: false, renderer: markdownText)
}

/// Returns paragraphs such as `0:25 **A:** WORDS`, separated by blank lines. Bookmarks, notes and gaps are in italics.
private func markdownText(_ timeline: Timeline, _ details: RecordingDetails) -> String {
    documentParagraphs(timeline, details).map { element in
        switch element {
        case .title(let text): return "# \(literal(text))\n"
        case .fact(let text): return "\(literal(text))\n"
        case .note(let text): return "*\(literal(text))*\n"
        case .turn(let speaker, let start, let text):
            return "\(clockTime(start)) \(speaker.map { "**\(literal($0)):** " } ?? "")\(literal(text))\n"
        }
    }.joined(separator: "\n")
}

/// Escapes Markdown's special characters within a line.
private func literal(_ text: String) -> String {
    var literal = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        if "\\`*_[]<>#|~&".unicodeScalars.contains(scalar) { literal.append("\\") }
        literal.append(scalar)
    }
    return String(literal)
}
