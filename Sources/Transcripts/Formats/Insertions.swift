import Core

/// Returns everything that formats insert between words, as a single line: gaps, marks, and texts for segments without
/// words.
///
/// Readers of edited transcripts remove these.
func insertions(in timeline: Timeline) -> Set<String> {
    var texts: Set<String> = ["[no words]", "[not read]"]
    texts.formUnion(timeline.gaps.map { description(of: $0) })
    for mark in marksWithText(of: timeline) {
        texts.insert(mark.line)
        texts.insert(markLines(mark.line).joined(separator: " "))
    }
    if let rest = unwrittenText(timeline) { texts.insert("[\(rest)]") }
    return texts
}
