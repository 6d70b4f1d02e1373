import Core

/// A read-only archive in memory, with the recordings that a test adds.
package actor InMemoryArchive: ArchiveReading {
    private var entries: [(summary: RecordingSummary, timeline: Timeline)]

    package init(_ entries: [(summary: RecordingSummary, timeline: Timeline)]) { self.entries = entries }

    /// Adds or replaces a recording.
    package func put(_ summary: RecordingSummary, _ timeline: Timeline) {
        entries.removeAll { $0.summary.id == summary.id }
        entries.append((summary, timeline))
    }

    private var pending: (summary: RecordingSummary, timeline: Timeline)?

    /// Adds or replaces a recording after the next call to `recordings()`.
    package func putAfterNextList(_ summary: RecordingSummary, _ timeline: Timeline) { pending = (summary, timeline) }

    package func recordings() -> [RecordingSummary] {
        defer {
            if let pending { put(pending.summary, pending.timeline) }
            pending = nil
        }
        return entries.map(\.summary).sorted { $0.id < $1.id }
    }

    package func transcript(of recording: Int) -> (RecordingSummary, Timeline)? {
        entries.first { $0.summary.id == recording }.map { ($0.summary, $0.timeline) }
    }

    /// The ordinal of the last pass in every recording, and whether that pass is complete.
    private var lastPass = (ordinal: 3, isComplete: true)

    package func setLastPass(_ ordinal: Int, isComplete: Bool) { lastPass = (ordinal, isComplete) }

    /// Returns the last pass, which is the third by default.
    package func shownPass(of recording: Int) -> PassSummary? {
        entries.first { $0.summary.id == recording }.map {
            PassSummary(
                id: lastPass.ordinal * recording, recording: recording,
                engine: EngineDescription(name: "stand-in", version: "1", model: "none"), profile: "final",
                isComplete: lastPass.isComplete,
                lastSegment: $0.timeline.segments.count, committedUpTo: $0.summary.length)
        }
    }

    package func passes(of recording: Int) -> [PassSummary] { shownPass(of: recording).map { [$0] } ?? [] }

    package func transcript(of recording: Int, pass: Int) -> (RecordingSummary, Timeline)? {
        pass == lastPass.ordinal * recording ? transcript(of: recording) : nil
    }

    package func search(_ words: String, limit: Int) -> [SearchHit] { [] }

    private var lines: [HistoryLine] = []

    package func addToHistory(_ line: HistoryLine) { lines.append(line) }

    package func history(of recording: Int?) -> [HistoryLine] {
        lines.filter { recording == nil || $0.entry.recording == recording }
    }
}
