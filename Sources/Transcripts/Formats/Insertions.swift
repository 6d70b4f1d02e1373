import Core

/// Returns the texts that formats insert between words, each as a single line: gaps, bookmarks, labels of segments
/// without words, and how much is transcribed. Parsers of edited transcripts remove these insertions.
func insertions(in timeline: Timeline) -> Set<String> {
    var texts: Set<String> = ["[no words]", "[not read]"]
    texts.formUnion(timeline.gaps.map { description(of: $0) })
    for mark in marksWithText(of: timeline) {
        texts.insert(mark.line)
        texts.insert(markLines(mark.line).joined(separator: " "))
    }
    if let progress = transcriptionProgress(timeline) { texts.insert("[\(progress)]") }
    return texts
}
