import Core

/// An archive that holds what a test puts into it, and is only read.
package actor ShelfArchive: Archive {
    private var held: [(summary: RecordingSummary, timeline: Timeline)]

    package init(_ held: [(summary: RecordingSummary, timeline: Timeline)]) { self.held = held }

    /// Adds a recording, or replaces the one of the same number.
    package func put(_ summary: RecordingSummary, _ timeline: Timeline) {
        held.removeAll { $0.summary.id == summary.id }
        held.append((summary, timeline))
    }

    package func recordings() -> [RecordingSummary] { held.map(\.summary).sorted { $0.id < $1.id } }

    package func transcript(of recording: Int) -> (RecordingSummary, Timeline)? {
        held.first { $0.summary.id == recording }.map { ($0.summary, $0.timeline) }
    }

    package func search(_ words: String, limit: Int) -> [SearchHit] { [] }

    package func beginRecording(
        startedAt: Double, clock: RecordingSummary.Clock, microphone: String
    ) throws -> Int { throw Self.readOnly }
    package func endRecording(_ id: Int, length: SamplePosition, reason: StopReason) throws { throw Self.readOnly }
    package func discard(recording id: Int) throws { throw Self.readOnly }
    package func beginPass(recording: Int, engine: EngineDescription, profile: String) throws -> Int {
        throw Self.readOnly
    }
    package func commit(_ segment: Segment, pass: Int, recording: Int) throws { throw Self.readOnly }
    package func transcribed(upTo position: SamplePosition, recording: Int) throws { throw Self.readOnly }
    package func add(_ gap: Gap, recording: Int) throws { throw Self.readOnly }
    package func add(_ mark: Mark, recording: Int) throws { throw Self.readOnly }

    private static let readOnly = DeviceError(.unsupported, "write", "a test's archive is only read")
}
