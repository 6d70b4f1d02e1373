import Core
import Recognizing

/// Takes a transcription into the archive, and tells those who listen.
struct ArchiveSink: TranscriptSink {
    let archive: any Archive
    let recording: Int
    let pass: Int
    let hub: EventHub

    /// Waits until everything before a position is safe from a power cut: audio comes before the row that names it.
    var audioIsDurable: @Sendable (SamplePosition) async throws -> Void = { _ in }

    var wantsPartials: Bool { hub.wantsPartials }

    func commit(_ segment: Segment, adaptation: AdaptationState?) async throws {
        try await commit([segment], adaptation: adaptation)
    }

    func commit(_ segments: [Segment], adaptation: AdaptationState?) async throws {
        guard let last = segments.last else { return }
        try await audioIsDurable(last.range.end)
        try await archive.commit(segments, adaptation: adaptation, pass: pass, recording: recording)
        for segment in segments { hub.publish(.final(recording: recording, segment: segment)) }
    }

    func transcribed(upTo position: SamplePosition) async throws {
        try await audioIsDurable(position)
        try await archive.transcribed(upTo: position, recording: recording)
    }

    func partial(segment: Int, range: SampleRange, text: String) async {
        hub.publish(.partial(recording: recording, segment: segment, range: range, text: text))
    }

    func rotated(at position: SamplePosition) async { hub.publish(.rotation(recording: recording, at: position)) }

    func fault(_ error: DeviceError) async {
        hub.publish(fault: error)
    }
}
