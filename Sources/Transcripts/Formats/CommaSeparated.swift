import Core

extension TranscriptFormat {
    /// A table.
    static let csv = TranscriptFormat("csv") { timeline, _ in commaSeparated(timeline) }
}

/// The transcript as comma-separated values (RFC 4180): a row a segment, each followed by its words; gaps and marks at
/// their places. Where somebody has looked who spoke, a last column tells it; the detail of a word is
/// `overlap` where somebody else speaks at the same time.
func commaSeparated(_ timeline: Timeline) -> String {
    var entries: [(start: SamplePosition, rows: [[String]])] = []
    for segment in timeline.segments {
        let number = String(segment.id)
        let label = { (speaker: Int?) in speaker.map { timeline.name(ofSpeaker: $0) } ?? "" }
        var rows = [
            row(
                "segment", number, segment.range, segment.text, segment.confidence, segment.endedBy.rawValue,
                label(timeline.speaker(of: segment)))
        ]
        rows += segment.words.map { word in
            let isOverlapped = timeline.speakers?.isOverlapped(word.range) ?? false
            return row(
                "word", number, word.range, word.text, word.confidence, isOverlapped ? "overlap" : "",
                label(timeline.speakers?.speaker(of: word.range)))
        }
        entries.append((segment.range.start, rows))
    }
    entries += timeline.gaps.map { ($0.range.start, [row("gap", "", $0.range, "", nil, $0.cause.rawValue)]) }
    entries += timeline.marks.map {
        ($0.position, [row("mark", "", SampleRange($0.position, $0.position), $0.text, nil, "")])
    }
    // What starts together stays in this order: `sort` alone does not promise that.
    let ordered = entries.enumerated().sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }
    let header = ["kind", "segment", "start", "end", "text", "confidence", "detail", "speaker"]
    let columns = timeline.speakers == nil ? header.count - 1 : header.count
    return ([header] + ordered.flatMap(\.element.rows)).map { $0.prefix(columns) }
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

/// A field, in quotes where it holds what separates fields; spaces at its ends are text, which some readers forget.
private func field(_ text: String) -> String {
    let special = text.unicodeScalars.contains { $0 == "\"" || $0 == "," || $0 == "\r" || $0 == "\n" }
    guard special else { return text }
    var quoted = "\""
    for scalar in text.unicodeScalars {
        if scalar == "\"" { quoted += "\"" }
        quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
}

/// A field that spreadsheets take for text: with a `'` in front where it begins as a formula does.
func withGuard(_ text: String) -> String { beginsAsFormula(text) ? "'" + text : text }

/// The field as it was before `withGuard`.
func withoutGuard(_ field: String) -> String {
    field.utf8.first == UInt8(ascii: "'") && beginsAsFormula(field) ? String(Substring(field.utf8.dropFirst())) : field
}

/// Whether it begins as a formula, or as one that has been guarded.
private func beginsAsFormula(_ text: String) -> Bool {
    switch text.unicodeScalars.first(where: { $0 != "'" }) {
    case "=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠": true
    default: false
    }
}
