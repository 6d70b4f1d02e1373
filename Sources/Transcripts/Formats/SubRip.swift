import Core

extension TranscriptFormat {
    /// Subtitles.
    package static let srt = TranscriptFormat("srt") { timeline, _ in subRip(timeline) }
}

/// Returns the transcript as SubRip (srt). The format has no comments, so only bookmarks with text are shown, and no
/// voices: with several speakers the first cue of a turn starts with the name, `A: `, and so does any cue that starts
/// like a name.
func subRip(_ timeline: Timeline) -> String {
    var last: String?
    return cues(of: timeline).enumerated().map { index, cue in
        var lines = cue.lines
        if let speaker = cue.speaker {
            let spoken = lines.count - cue.spoken
            if lines.indices.contains(spoken), speaker != last || timeline.startsLikeName(lines[spoken]) {
                lines[spoken] = "\(oneLine(speaker)): \(lines[spoken])"
            }
            last = speaker
        }
        return """
            \(index + 1)
            \(timecode(cue.start, decimal: ",")) --> \(timecode(cue.end, decimal: ","))
            \(lines.map(withoutMarkup).joined(separator: "\n"))


            """
    }.joined()
}

/// Returns hours (two digits or more), minutes, seconds and milliseconds.
func timecode(_ milliseconds: Int64, decimal: String) -> String {
    let seconds = milliseconds / 1_000
    let clock = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { $0.padded(to: 2) }.joined(separator: ":")
    return clock + decimal + (milliseconds % 1_000).padded(to: 3)
}

/// Keeps players from finding markup or cue times in a text. SubRip has no escapes, so it inserts an invisible
/// character after `<`, `{` and `\\`, and within the arrow.
private func withoutMarkup(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0x3C || $0 == 0x3E || $0 == 0x7B || $0 == 0x5C }) else { return text }
    var shown = String.UnicodeScalarView()
    var dashes = 0
    for scalar in text.unicodeScalars {
        if scalar == ">", dashes > 1 { shown.append(wordJoiner) }
        shown.append(scalar)
        if scalar == "<" || scalar == "{" || scalar == "\\" { shown.append(wordJoiner) }
        dashes = scalar == "-" ? dashes + 1 : 0
    }
    return String(shown)
}

/// Separates two characters that would form a sign; invisible.
let wordJoiner: Unicode.Scalar = "\u{2060}"

/// Replaces `-->`, which starts cue times and cannot be escaped everywhere.
func withoutArrow(_ text: String) -> String {
    // Compares scalars: with a combining mark the arrow is another Character, but the same bytes.
    var scalars: [Unicode.Scalar] = []
    for scalar in text.unicodeScalars {
        if scalar == ">" && scalars.suffix(2) == ["-", "-"] {
            scalars.removeLast(2)
            scalars.append("→")
        } else {
            scalars.append(scalar)
        }
    }
    return String(String.UnicodeScalarView(scalars))
}
