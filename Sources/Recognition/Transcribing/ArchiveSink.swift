import Core

/// Takes a transcription into the archive, and tells those who listen.
package struct ArchiveSink: TranscriptSink {
    private let archive: any Archive
    private let recording: Int
    private let pass: Int
    private let engine: EngineDescription
    private let hub: EventHub

    /// Waits until everything before a position is safe from a power cut: audio comes before the row that names it.
    private let audioIsDurable: @Sendable (SamplePosition) async throws -> Void

    /// - Parameters:
    ///   - engine: what the pass was begun for. Where another reads on, the pass is called by that one's name from then on, so
    ///     that it is read again.
    ///   - audioIsDurable: waits until everything before a position is safe from a power cut. By default it is.
    package init(
        archive: any Archive, recording: Int, pass: Int, engine: EngineDescription, hub: EventHub,
        audioIsDurable: @escaping @Sendable (SamplePosition) async throws -> Void = { _ in }
    ) {
        self.archive = archive
        self.recording = recording
        self.pass = pass
        self.engine = engine
        self.hub = hub
        self.audioIsDurable = audioIsDurable
    }

    package var wantsPartials: Bool { hub.wantsPartials }

    package func isRead(by engine: EngineDescription) async throws {
        guard engine != self.engine else { return }
        try await archive.setEngine(engine, ofPass: pass, recording: recording)
    }

    package func commit(_ segment: Segment, adaptation: AdaptationState?) async throws {
        try await commit([segment], adaptation: adaptation)
    }

    package func commit(_ segments: [Segment], adaptation: AdaptationState?) async throws {
        guard let last = segments.last else { return }
        try await audioIsDurable(last.range.end)
        try await archive.commit(segments, adaptation: adaptation, pass: pass, recording: recording)
        for segment in segments { hub.publish(.final(recording: recording, segment: segment)) }
    }

    package func transcribed(upTo position: SamplePosition) async throws {
        try await audioIsDurable(position)
        try await archive.transcribed(upTo: position, recording: recording)
    }

    package func partial(segment: Int, range: SampleRange, text: String) async {
        hub.publish(.partial(recording: recording, segment: segment, range: range, text: text))
    }

    package func rotated(at position: SamplePosition) async {
        hub.publish(.rotation(recording: recording, at: position))
    }

    package func fault(_ error: DeviceError) async {
        hub.publish(fault: error)
    }
}
