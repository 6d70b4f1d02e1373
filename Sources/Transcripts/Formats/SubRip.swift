import Core

extension TranscriptFormat {
    /// Subtitles.
    package static let srt = TranscriptFormat("srt") { timeline, _ in subRip(timeline) }
}

/// The transcript as SubRip (srt). Of marks it has those that say something, as `cues` places them: it has no comments; and no voices:
/// where several people are told apart, the first cue of each turn begins with who speaks, `A: `, and so does one that
/// begins with a name.
func subRip(_ timeline: Timeline) -> String {
    var last: String?
    return cues(of: timeline).enumerated().map { index, cue in
        var lines = cue.lines
        if let speaker = cue.speaker {
            let spoken = lines.count - cue.spoken
            if lines.indices.contains(spoken), speaker != last || timeline.seemsNamed(lines[spoken]) {
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

/// Hours, minutes, seconds and milliseconds; hours have two digits or more.
func timecode(_ milliseconds: Int64, decimal: String) -> String {
    let seconds = milliseconds / 1_000
    let clock = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { $0.padded(to: 2) }.joined(separator: ":")
    return clock + decimal + (milliseconds % 1_000).padded(to: 3)
}

/// A text of which players take nothing for markup, or for the times of the next cue: SubRip has no way to say so, hence a character
/// without width behind `<`, `{` and `\\`, and within the arrow.
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

/// Stands between two characters that are not to be taken as one sign; nobody sees it.
let wordJoiner: Unicode.Scalar = "\u{2060}"

/// Readers take a line with the arrow for the times of the next cue, and neither format can escape it everywhere.
func withoutArrow(_ text: String) -> String {
    // Scalar by scalar: a combining mark after the arrow makes it another Character, but not other bytes.
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
