import Core

/// A read-only archive with the recordings that a test puts into it.
package actor CopiedArchive: ArchiveReading {
    private var held: [(summary: RecordingSummary, timeline: Timeline)]

    package init(_ held: [(summary: RecordingSummary, timeline: Timeline)]) { self.held = held }

    /// Adds or replaces a recording.
    package func put(_ summary: RecordingSummary, _ timeline: Timeline) {
        held.removeAll { $0.summary.id == summary.id }
        held.append((summary, timeline))
    }

    private var later: (summary: RecordingSummary, timeline: Timeline)?

    /// Calls `put` after the next `recordings()`.
    package func putAfterNextList(_ summary: RecordingSummary, _ timeline: Timeline) { later = (summary, timeline) }

    package func recordings() -> [RecordingSummary] {
        defer {
            if let later { put(later.summary, later.timeline) }
            later = nil
        }
        return held.map(\.summary).sorted { $0.id < $1.id }
    }

    package func transcript(of recording: Int) -> (RecordingSummary, Timeline)? {
        held.first { $0.summary.id == recording }.map { ($0.summary, $0.timeline) }
    }

    /// The number of the last pass of each recording, and whether it is complete.
    private var reading = (number: 3, isComplete: true)

    package func read(_ number: Int, isComplete: Bool) { reading = (number, isComplete) }

    /// By default each recording has three passes.
    package func shownPass(of recording: Int) -> PassSummary? {
        held.first { $0.summary.id == recording }.map {
            PassSummary(
                id: reading.number * recording, recording: recording,
                engine: EngineDescription(name: "stand-in", version: "1", model: "none"), profile: "final",
                isComplete: reading.isComplete,
                lastSegment: $0.timeline.segments.count, committedUpTo: $0.summary.length)
        }
    }

    package func passes(of recording: Int) -> [PassSummary] { shownPass(of: recording).map { [$0] } ?? [] }

    package func transcript(of recording: Int, pass: Int) -> (RecordingSummary, Timeline)? {
        pass == reading.number * recording ? transcript(of: recording) : nil
    }

    package func search(_ words: String, limit: Int) -> [SearchHit] { [] }

    private var lines: [HistoryLine] = []

    package func enter(_ line: HistoryLine) { lines.append(line) }

    package func history(of recording: Int?) -> [HistoryLine] {
        lines.filter { recording == nil || $0.entry.recording == recording }
    }
}
