import Core
import Transcripts

/// The texts for the list of recordings. They are collected while recordings are copied, so that no text is read twice.
struct IndexTexts {
    /// The maximum size of all texts in bytes. If they are longer, the texts that were added first are truncated.
    private static let maximumBytes = 8 << 20
    /// The length of a truncated text in characters.
    private static let truncatedLength = 200

    private(set) var entries: [Int: (title: String, facts: [String], text: String)] = [:]

    /// The corrected recordings, by ID.
    private(set) var corrected: [Int: RecordingSummary] = [:]
    /// The IDs of the recordings whose text is not truncated, in order of addition.
    private var untruncated: [Int] = []
    private var bytes = 0

    /// Adds a recording. Add the newest recordings last, because the first texts may be truncated.
    mutating func add(_ summary: RecordingSummary, _ timeline: Timeline) {
        var facts = [clockTime(timeline.length)]
        if summary.clock != .synchronized { facts.append("clock unverified") }
        if let powerOn = summary.powerOn { facts.append(powerOn.text) }
        if let progress = transcriptionProgress(timeline) { facts.append(progress) }
        if !timeline.gaps.isEmpty { facts.append(counted(timeline.gaps.count, "gap", "gaps")) }
        if !timeline.marks.isEmpty { facts.append(counted(timeline.marks.count, "bookmark", "bookmarks")) }
        let text = timeline.segments.map(\.text).filter { !$0.isEmpty }.joined(separator: " ")
        entries[summary.id] = (oneLine(timeline.title ?? ""), facts, text)
        corrected[summary.id] = timeline.annotations == nil ? nil : summary
        bytes += text.utf8.count
        untruncated.append(summary.id)
        var truncatedCount = 0
        while bytes > Self.maximumBytes, truncatedCount < untruncated.count {
            let text = entries[untruncated[truncatedCount]]?.text ?? ""
            let beginning = String(text.prefix(Self.truncatedLength))
            entries[untruncated[truncatedCount]]?.text = beginning
            bytes -= text.utf8.count - beginning.utf8.count
            truncatedCount += 1
        }
        untruncated.removeFirst(truncatedCount)
    }
}
