import Core

/// Everything that formats put between what was said, as it stands there on one line: gaps, marks, and words for what has none.
///
/// Whoever reads a transcript back leaves these out.
func insertions(in timeline: Timeline) -> Set<String> {
    var texts: Set<String> = ["[no words]", "[not read]"]
    texts.formUnion(timeline.gaps.map { description(of: $0) })
    for mark in tellingMarks(of: timeline) {
        texts.insert(mark.line)
        texts.insert(markLines(mark.line).joined(separator: " "))
    }
    if let rest = unwrittenText(timeline) { texts.insert("[\(rest)]") }
    return texts
}
