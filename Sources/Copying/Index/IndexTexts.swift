import Core
import Transcripts

/// The list's texts, collected while recordings are copied, so that no text is read twice.
struct IndexTexts {
    /// Bytes of searchable text in the list; earlier recordings are truncated.
    private static let limit = 8 << 20
    private static let beginning = 200

    private(set) var entries: [Int: (title: String, facts: [String], text: String)] = [:]

    /// The corrected recordings, in order of arrival.
    private(set) var corrected: [RecordingSummary] = []
    /// The recordings with their whole text, in order of arrival.
    private var whole: [Int] = []
    private var bytes = 0

    /// Adds a recording; the newest come last.
    mutating func add(_ summary: RecordingSummary, _ timeline: Timeline) {
        var facts = [clockTime(timeline.length)]
        if summary.clock != .synchronized { facts.append("clock unverified") }
        if let powerOn = summary.powerOn { facts.append(powerOn.text) }
        if let progress = unwrittenText(timeline) { facts.append(progress) }
        if !timeline.gaps.isEmpty { facts.append(counted(timeline.gaps.count, "gap", "gaps")) }
        if !timeline.marks.isEmpty { facts.append(counted(timeline.marks.count, "bookmark", "bookmarks")) }
        let text = timeline.segments.map(\.text).filter { !$0.isEmpty }.joined(separator: " ")
        entries[summary.id] = (oneLine(timeline.title ?? ""), facts, text)
        if timeline.annotations != nil { corrected.append(summary) }
        bytes += text.utf8.count
        whole.append(summary.id)
        var cut = 0
        while bytes > Self.limit, cut < whole.count {
            let text = entries[whole[cut]]?.text ?? ""
            let beginning = String(text.prefix(Self.beginning))
            entries[whole[cut]]?.text = beginning
            bytes -= text.utf8.count - beginning.utf8.count
            cut += 1
        }
        whole.removeFirst(cut)
    }
}
