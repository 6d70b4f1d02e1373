import Core

extension TranscriptFormat {
    /// Praat TextGrid.
    static let textgrid = TranscriptFormat("textgrid", fileExtension: "TextGrid", holdsIdentity: true) {
        timeline, details in textGrid(timeline, details.identity)
    }
}

/// Returns a Praat TextGrid in the long form. It has tiers for segments, words, gaps and marks, and one for the
/// recording's identity, since Praat has no comments. With several speakers, each has a tier, and overlaps have one.
func textGrid(_ timeline: Timeline, _ identity: RecordingIdentity? = nil) -> String {
    let tiers = Tiers(timeline) { $0.samples }
    let end = decimalSeconds(SamplePosition(tiers.end))
    var speakerTiers = tiers.speakers.map { (name: $0.tier, spans: $0.spans) }
    if !tiers.overlaps.isEmpty { speakerTiers.append(("overlap", tiers.overlaps)) }
    var lines = [
        "File type = \"ooTextFile\"", "Object class = \"TextGrid\"", "", "xmin = 0", "xmax = \(end)",
        "tiers? <exists>", "size = \((identity == nil ? 4 : 5) + speakerTiers.count)", "item []:",
    ]
    let intervals = [("segments", tiers.segments), ("words", tiers.words.flatMap { $0 }), ("gaps", tiers.gaps)]
    for (index, (name, spans)) in intervals.enumerated() {
        lines += intervalTier(index + 1, name, spans, tiers.end)
    }
    lines += header(4, "TextTier", "marks", end, "points: size = \(tiers.marks.count)")
    for (index, mark) in tiers.marks.enumerated() {
        lines += [
            "        points [\(index + 1)]:", "            number = \(decimalSeconds(SamplePosition(mark.time)))",
            "            mark = \(quoted(mark.text))",
        ]
    }
    if let identity {
        let wholeRecording = Tiers.Span(start: 0, end: tiers.end, text: identity.text)
        lines += intervalTier(5, "recording", [wholeRecording], tiers.end)
    }
    // The speakers' tiers come last, since programs may refer to the other tiers by number.
    for (index, tier) in speakerTiers.enumerated() {
        let number = (identity == nil ? 5 : 6) + index
        lines += intervalTier(number, tier.name, tier.spans, tiers.end)
    }
    return lines.map { $0 + "\n" }.joined()
}

private func intervalTier(_ number: Int, _ name: String, _ spans: [Tiers.Span], _ length: Int64) -> [String] {
    let tiled = tiled(spans, end: length)
    let end = decimalSeconds(SamplePosition(length))
    return header(number, "IntervalTier", name, end, "intervals: size = \(tiled.count)")
        + tiled.enumerated().flatMap { index, span in
            [
                "        intervals [\(index + 1)]:", "            xmin = \(decimalSeconds(SamplePosition(span.start)))",
                "            xmax = \(decimalSeconds(SamplePosition(span.end)))",
                "            text = \(quoted(span.text))",
            ]
        }
}

private func header(_ number: Int, _ kind: String, _ name: String, _ end: String, _ size: String) -> [String] {
    [
        "    item [\(number)]:", "        class = \"\(kind)\"", "        name = \(quoted(name))", "        xmin = 0",
        "        xmax = \(end)", "        \(size)",
    ]
}

/// Adds empty intervals where an interval tier has none, as the format requires.
private func tiled(_ spans: [Tiers.Span], end: Int64) -> [Tiers.Span] {
    var tiled: [Tiers.Span] = []
    var latestEnd: Int64 = 0
    for span in spans {
        if span.start > latestEnd { tiled.append(Tiers.Span(start: latestEnd, end: span.start, text: "")) }
        tiled.append(span)
        latestEnd = span.end
    }
    if latestEnd < end { tiled.append(Tiers.Span(start: latestEnd, end: end, text: "")) }
    return tiled
}

/// Returns a text in quotation marks, with the quotation marks in it doubled.
func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
        if scalar == "\"" { quoted += "\"" }
        quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
}
