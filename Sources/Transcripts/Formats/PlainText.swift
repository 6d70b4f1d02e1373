import Core

extension TranscriptFormat {
    /// The words alone.
    package static let text = TranscriptFormat("text", fileExtension: "txt") { timeline, _ in plainText(timeline) }
}

/// Returns the words, a line per segment, or a paragraph per turn with several speakers: `A: WORDS`; more lines where
/// somebody said "new line". A bookmark with text is a line before the next segment. A last line says if the text is
/// incomplete.
func plainText(_ timeline: Timeline) -> String {
    let rest = unwrittenText(timeline).map { "[\($0)]\n" } ?? ""
    var marks = marksWithText(of: timeline)[...]
    func lines(upTo end: SamplePosition) -> String {
        let passed = marks.prefix { $0.time <= end }
        marks = marks.dropFirst(passed.count)
        return passed.map { "\(escapingSigns($0.line))\n" }.joined()
    }
    var last: Int?
    return timeline.segments.map { segment in
        let before = lines(upTo: segment.range.start)
        return before
            + timeline.readableTurns(of: segment).map { turn in
                let text = spokenLines(turn.words.map(\.text).joined(separator: " "))
                guard let speaker = turn.speaker, !text.isEmpty else { return text }
                defer { last = speaker }
                let isNew = speaker != last || !before.isEmpty
                return (isNew && last != nil ? "\n" : "")
                    + (isNew || timeline.startsLikeName(text) ? "\(oneLine(timeline.name(ofSpeaker: speaker))): " : "")
                    + text
            }.joined()
    }.joined() + lines(upTo: SamplePosition(.max)) + rest
}

/// Returns a segment's words as one line, or more if somebody said "new line".
private func spokenLines(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
        let line = escapingSigns(oneLine(text))
        return line.isEmpty ? "" : line + "\n"
    }
    var spoken = text.split(separator: Punctuator.newLine, omittingEmptySubsequences: false)
        .map { escapingSigns(oneLine(String($0))) }
    if spoken.last == "" { spoken.removeLast() }
    return spoken.map { $0 + "\n" }.joined()
}

/// Returns bookmarks with text, in chronological order, as lines: `[bookmark 0:12: WORDS]`.
func marksWithText(of timeline: Timeline) -> [(time: SamplePosition, line: String)] {
    timeline.marks.sorted { $0.position < $1.position }.compactMap { mark in
        let text = oneLine(mark.text)
        return text.isEmpty ? nil : (mark.position, "[bookmark \(clockTime(mark.position)): \(text)]")
    }
}

/// Describes how far the text is transcribed; nil if complete.
package func unwrittenText(_ timeline: Timeline) -> String? {
    timeline.unwritten.map { rest in
        rest.start == .zero
            ? "not transcribed yet: \(clockTime(timeline.length))"
            : "transcribed up to \(clockTime(rest.start)) of \(clockTime(timeline.length))"
    }
}

/// Returns a text as a part of one line: every run of control and space characters becomes one space.
///
/// Works on scalars: as a `Character`, a space with a combining mark is not a space.
package func oneLine(_ text: String) -> String {
    if isOneLine(text) { return text }
    var line = String.UnicodeScalarView()
    var isBehindSpace = false
    for scalar in text.unicodeScalars {
        if isSpace(scalar) {
            isBehindSpace = !line.isEmpty
            continue
        }
        if isBehindSpace { line.append(" ") }
        isBehindSpace = false
        line.append(scalar)
    }
    return String(line)
}

/// Returns the words of a text.
func words(in text: String) -> [String] {
    oneLine(text).utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
}

/// Whether `oneLine` would not change a text, judged by its bytes; may be false for others.
private func isOneLine(_ text: String) -> Bool {
    var isBehindSpace = true
    for byte in text.utf8 {
        guard (0x20..<0x7F).contains(byte), byte > 0x20 || !isBehindSpace else { return false }
        isBehindSpace = byte == 0x20
    }
    return !isBehindSpace || text.isEmpty
}

private func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x7F { return scalar.value <= 0x20 }
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator: return true
    default: return false
    }
}
