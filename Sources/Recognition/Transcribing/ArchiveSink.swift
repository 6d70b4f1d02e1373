import Core

/// Returns a sink that commits a transcription to the archive and publishes its events.
///
/// - Parameters:
///   - engine: the engine for which the pass was started. If another engine takes over, the archive records that engine
///     for the pass, so that the recording is transcribed again later.
///   - audioIsDurable: waits until all audio before a position is synced. Audio is synced before any row that refers to
///     it.
package func archiveSink(
    _ archive: any Archive, recording: Int, pass: Int, engine: EngineDescription, hub: EventHub,
    audioIsDurable: @escaping @Sendable (SamplePosition) async throws -> Void = { _ in }
) -> any TranscriptSink {
    ArchiveSink(
        archive: archive, recording: recording, pass: pass, engine: engine, hub: hub, audioIsDurable: audioIsDurable)
}

private struct ArchiveSink: TranscriptSink {
    let archive: any Archive
    let recording: Int
    let pass: Int
    let engine: EngineDescription
    let hub: EventHub
    let audioIsDurable: @Sendable (SamplePosition) async throws -> Void

    var wantsPartials: Bool { hub.wantsPartials }

    func recordEngine(_ engine: EngineDescription) async throws {
        guard engine != self.engine else { return }
        try await archive.setEngine(engine, ofPass: pass, recording: recording)
    }

    func commit(_ segments: [Segment], adaptation: AdaptationState?) async throws {
        guard let last = segments.last else { return }
        try await audioIsDurable(last.range.end)
        try await archive.commit(segments, adaptation: adaptation, pass: pass, recording: recording)
        for segment in segments { hub.publish(.final(recording: recording, segment: segment)) }
    }

    func markTranscribed(upTo position: SamplePosition) async throws {
        try await audioIsDurable(position)
        try await archive.markTranscribed(upTo: position, recording: recording)
    }

    func partial(segment: Int, range: SampleRange, text: String) async {
        hub.publish(.partial(recording: recording, segment: segment, range: range, text: text))
    }

    func rotated(at position: SamplePosition) async {
        hub.publish(.rotation(recording: recording, at: position))
    }

    func fault(_ error: DeviceError) async {
        hub.publish(fault: error)
    }
}
