import Core

extension TranscriptFormat {
    /// Audacity labels.
    static let labels = TranscriptFormat("labels", fileExtension: "labels.txt", fileName: "labels.txt") {
        timeline, _ in audacityLabels(timeline)
    }
}

/// Returns an Audacity label track: start, end and text separated by tabs, one line per segment, gap or mark.
func audacityLabels(_ timeline: Timeline) -> String {
    var labels = timeline.segments.map { ($0.range, label(of: $0)) }
    labels += timeline.gaps.map { ($0.range, description(of: $0)) }
    labels += timeline.marks.map { mark in
        let text = oneLine(mark.text)
        return (SampleRange(mark.position, mark.position), text.isEmpty ? "mark" : "mark: \(text)")
    }
    return labels.stablySorted { $0.0.start }.map { range, text in
        "\(decimalSeconds(range.start))\t\(decimalSeconds(range.end))\t\(text)\n"
    }.joined()
}
