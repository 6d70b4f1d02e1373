import Core

/// Commits a transcription to the archive and publishes its events.
package struct ArchiveSink: TranscriptSink {
    private let archive: any Archive
    private let recording: Int
    private let pass: Int
    private let engine: EngineDescription
    private let hub: EventHub

    /// Waits until everything before a position is safe from a power cut: audio is synced before the row that refers to it.
    private let audioIsDurable: @Sendable (SamplePosition) async throws -> Void

    /// - Parameters:
    ///   - engine: the engine that the pass was started for. If another engine takes over, the pass is renamed to it, so that it
    ///     is read again later.
    ///   - audioIsDurable: waits until everything before a position is safe from a power cut.
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
