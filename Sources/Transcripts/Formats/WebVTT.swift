import Core

extension TranscriptFormat {
    /// WebVTT, the subtitles of web pages.
    static let vtt = TranscriptFormat("vtt", holdsIdentity: true) { timeline, details in
        webVTT(timeline, details.identity)
    }
}

/// Returns the transcript as WebVTT. With several speakers, cues have voices. Each bookmark is a comment at its time; a
/// bookmark with text is also shown.
func webVTT(_ timeline: Timeline, _ identity: RecordingIdentity? = nil) -> String {
    var blocks = ["WEBVTT"] + (identity.map { ["NOTE \($0.text)"] } ?? [])
    var marks = timeline.marks.sorted { $0.position < $1.position }[...]
    func addMarks(before end: Int64) {
        while let mark = marks.first, mark.position.samples * 1_000 < end * Int64(SamplePosition.rate) {
            blocks.append(note(mark))
            marks = marks.dropFirst()
        }
    }
    for cue in cues(of: timeline) {
        addMarks(before: cue.end)
        let times = "\(timecode(cue.start, decimal: ".")) --> \(timecode(cue.end, decimal: "."))"
        let voice = cue.speaker.map { "<v \(escaped(oneLine($0)))>" } ?? ""
        // A bookmark's lines are above the spoken lines and have no voice.
        let firstSpoken = cue.lines.count - cue.spokenCount
        let lines = cue.lines.enumerated().map { ($0.offset == firstSpoken ? voice : "") + escaped($0.element) }
        blocks.append(([times] + lines).joined(separator: "\n"))
    }
    addMarks(before: .max / Int64(SamplePosition.rate))
    return blocks.joined(separator: "\n\n") + "\n"
}

private func note(_ mark: Bookmark) -> String {
    let time = timecode(mark.position.samples * 1_000 / Int64(SamplePosition.rate), decimal: ".")
    return withoutArrow(oneLine("NOTE mark \(time) \(mark.text)"))
}

/// Escapes markup, including the arrow `-->`, in cue text.
private func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "&": escaped += "&amp;"
        case "<": escaped += "&lt;"
        case ">": escaped += "&gt;"
        default: escaped.unicodeScalars.append(scalar)
        }
    }
    return escaped
}
