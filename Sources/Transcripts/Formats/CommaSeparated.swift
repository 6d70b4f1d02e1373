import Core

extension TranscriptFormat {
    /// A table for spreadsheets.
    static let csv = TranscriptFormat("csv") { timeline, _ in commaSeparated(timeline) }
}

/// Returns comma-separated values (RFC 4180): a row for each segment, followed by rows for its words, with gaps and
/// marks in chronological order.
///
/// If the timeline is diarized, the last column is the speaker, and a word's `detail` is `overlap` if somebody else
/// speaks at the same time.
func commaSeparated(_ timeline: Timeline) -> String {
    var entries: [(start: SamplePosition, rows: [[String]])] = []
    for segment in timeline.segments {
        let id = String(segment.id)
        let speakerName = { (speaker: Int?) in speaker.map { timeline.name(ofSpeaker: $0) } ?? "" }
        var rows = [
            row(
                "segment", id, segment.range, segment.shownText, segment.confidence, segment.endedBy.rawValue,
                speakerName(timeline.speaker(of: segment)))
        ]
        rows += segment.words.map { word in
            let isOverlapped = timeline.speakers?.isOverlapped(word.range) ?? false
            return row(
                "word", id, word.range, word.text, word.confidence, isOverlapped ? "overlap" : "",
                speakerName(timeline.speakers?.speaker(of: word.range)))
        }
        entries.append((segment.range.start, rows))
    }
    entries += timeline.gaps.map { ($0.range.start, [row("gap", "", $0.range, "", nil, $0.cause.rawValue)]) }
    entries += timeline.marks.map {
        ($0.position, [row("mark", "", SampleRange($0.position, $0.position), $0.text, nil, "")])
    }
    let header = ["kind", "segment", "start", "end", "text", "confidence", "detail", "speaker"]
    let columns = timeline.speakers == nil ? header.count - 1 : header.count
    return ([header] + entries.stablySorted(by: \.start).flatMap(\.rows)).map { $0.prefix(columns) }
        .map { $0.map(field).joined(separator: ",") + "\r\n" }.joined()
}

private func row(
    _ kind: String, _ segment: String, _ range: SampleRange, _ text: String, _ confidence: Double?, _ detail: String,
    _ speaker: String = ""
) -> [String] {
    let confidence = confidence.map { "\(rounded($0))" } ?? ""
    return [
        kind, segment, decimalSeconds(range.start), decimalSeconds(range.end), withGuard(oneLine(text)), confidence,
        detail, withGuard(oneLine(speaker)),
    ]
}

/// Quotes a field if needed. Keeps leading and trailing spaces, although some readers drop them.
private func field(_ text: String) -> String {
    let special = text.unicodeScalars.contains { $0 == "\"" || $0 == "," || $0 == "\r" || $0 == "\n" }
    return special ? quoted(text) : text
}

/// Prepends `'` if a spreadsheet would treat the field as a formula.
func withGuard(_ text: String) -> String { beginsAsFormula(text) ? "'" + text : text }

/// Reverses `withGuard`.
func withoutGuard(_ field: String) -> String {
    field.utf8.first == UInt8(ascii: "'") && beginsAsFormula(field) ? String(Substring(field.utf8.dropFirst())) : field
}

/// Whether the text starts like a formula, guarded or not.
private func beginsAsFormula(_ text: String) -> Bool {
    switch text.unicodeScalars.first(where: { $0 != "'" }) {
    case "=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠": true
    default: false
    }
}
