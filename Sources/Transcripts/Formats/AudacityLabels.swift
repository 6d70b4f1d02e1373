import Core

extension TranscriptFormat {
    /// Audacity.
    static let labels = TranscriptFormat("labels", fileExtension: "labels.txt", fileName: "labels.txt") {
        timeline, _ in audacityLabels(timeline)
    }
}

/// The transcript as a label track of Audacity: start, end and text between tabs, a line a segment, gap or mark.
func audacityLabels(_ timeline: Timeline) -> String {
    var labels = timeline.segments.map { ($0.range, label(of: $0)) }
    labels += timeline.gaps.map { ($0.range, description(of: $0)) }
    labels += timeline.marks.map { mark in
        let text = oneLine(mark.text)
        return (SampleRange(mark.position, mark.position), text.isEmpty ? "mark" : "mark: \(text)")
    }
    let ordered = labels.enumerated().sorted { ($0.element.0.start, $0.offset) < ($1.element.0.start, $1.offset) }
    return ordered.map { _, label in
        "\(decimalSeconds(label.0.start))\t\(decimalSeconds(label.0.end))\t\(label.1)\n"
    }.joined()
}
