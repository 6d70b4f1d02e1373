import Core

extension TranscriptFormat {
    /// SubRip subtitles.
    package static let srt = TranscriptFormat("srt") { timeline, _ in subRip(timeline) }
}

/// Returns the transcript as SubRip (srt). The format has no comments, so bookmarks without text are left out. It has
/// no tag for speakers either, so with several speakers, the first cue of a turn starts with the speaker's name: `A: `.
/// So does any cue whose text starts like a name.
func subRip(_ timeline: Timeline) -> String {
    var last: String?
    return cues(of: timeline).enumerated().map { index, cue in
        var lines = cue.lines
        if let speaker = cue.speaker {
            let firstSpoken = lines.count - cue.spokenCount
            if lines.indices.contains(firstSpoken), speaker != last || timeline.startsLikeName(lines[firstSpoken]) {
                lines[firstSpoken] = "\(oneLine(speaker)): \(lines[firstSpoken])"
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

/// Keeps players from finding markup or cue times in a text. SubRip has no escapes, so this function inserts an
/// invisible character after `<`, `{` and `\`, and within the arrow `-->`.
private func withoutMarkup(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0x3C || $0 == 0x3E || $0 == 0x7B || $0 == 0x5C }) else { return text }
    var escaped = String.UnicodeScalarView()
    var dashes = 0
    for scalar in text.unicodeScalars {
        if scalar == ">", dashes > 1 { escaped.append(wordJoiner) }
        escaped.append(scalar)
        if scalar == "<" || scalar == "{" || scalar == "\\" { escaped.append(wordJoiner) }
        dashes = scalar == "-" ? dashes + 1 : 0
    }
    return String(escaped)
}

/// An invisible character that separates two characters which would otherwise be read as markup.
let wordJoiner: Unicode.Scalar = "\u{2060}"

/// Replaces `-->` with `→`: subtitles use the arrow between times, and not every format can escape it.
func withoutArrow(_ text: String) -> String {
    // Compares scalars: with a combining mark after it, `>` would be a different `Character`.
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
