import Core
import System

extension TranscriptFormat {
    /// JSON, one object per line.
    static let jsonl = TranscriptFormat("jsonl", isUsual: false, namesItsRecording: true) { timeline, _ in
        try jsonLines(timeline)
    }
}

/// Returns one JSON object per line: a header; segments, gaps and marks in chronological order; and the statistics.
func jsonLines(_ timeline: Timeline) throws -> String {
    var entries: [(start: SamplePosition, line: String)] = []
    for segment in timeline.segments {
        entries.append((segment.range.start, try line("segment", SegmentJSON(segment, of: timeline))))
    }
    for gap in timeline.gaps { entries.append((gap.range.start, try line("gap", GapJSON(gap)))) }
    for mark in timeline.marks { entries.append((mark.position, try line("mark", MarkJSON(mark)))) }
    var lines = [try line("header", HeaderJSON(timeline))] + entries.stablySorted(by: \.start).map(\.line)
    if let statistics = timeline.statistics { lines.append(try line("statistics", rounded(statistics))) }
    return lines.map { $0 + "\n" }.joined()
}

private func line(_ type: String, _ body: some Encodable) throws -> String {
    try jsonObject(TypedLine(type: type, body: body))
}

/// Adds the key `type` to a body.
private struct TypedLine<Body: Encodable>: Encodable {
    var type: String
    var body: Body

    private enum CodingKeys: CodingKey { case type }

    func encode(to encoder: any Encoder) throws {
        try body.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(type, forKey: .type)
    }
}
