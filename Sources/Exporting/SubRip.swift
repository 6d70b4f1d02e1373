import Core

extension TranscriptFormat {
    /// Subtitles.
    package static let srt = TranscriptFormat("srt") { timeline, _ in subRip(timeline) }
}

/// The transcript as SubRip (srt). Of marks it has those that say something, as `cues` places them: it has no comments; and no voices:
/// where several people are told apart, the first cue of each turn begins with who speaks, `A: `.
func subRip(_ timeline: Timeline) -> String {
    var last: String?
    return cues(of: timeline).enumerated().map { index, cue in
        var lines = cue.lines
        if let speaker = cue.speaker {
            let spoken = lines.count - cue.spoken
            if speaker != last, lines.indices.contains(spoken) {
                lines[spoken] = "\(oneLine(speaker)): \(lines[spoken])"
            }
            last = speaker
        }
        return """
            \(index + 1)
            \(timecode(cue.start, decimal: ",")) --> \(timecode(cue.end, decimal: ","))
            \(lines.map(withoutArrow).joined(separator: "\n"))


            """
    }.joined()
}

/// Hours, minutes, seconds and milliseconds; hours have two digits or more.
func timecode(_ milliseconds: Int64, decimal: String) -> String {
    let seconds = milliseconds / 1_000
    let clock = [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { padded($0, to: 2) }.joined(separator: ":")
    return clock + decimal + padded(milliseconds % 1_000, to: 3)
}

private func padded(_ number: Int64, to digits: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
}

/// Readers take a line with the arrow for the times of the next cue, and neither format can escape it everywhere.
package func withoutArrow(_ text: String) -> String {
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
