import Archive
import Audio
import Core
import Recognition
import Settings

/// Transcribes recordings again with more effort, as a separate pass. The live text stays.
///
/// May be cancelled or killed: committed text stays, and the next run continues after it.
package struct SecondPassJob: Sendable {
    private let configuration: Configuration
    private let archive: SQLiteArchive
    private let hub: EventHub
    private let unreadable: UnreadableRecordings
    private let progress: SecondPassProgress

    /// - Parameters:
    ///   - unreadable: the recordings to skip. Recordings that cannot be read are added.
    ///   - progress: updated with the current recording and position.
    package init(
        configuration: Configuration, archive: SQLiteArchive, hub: EventHub,
        unreadable: UnreadableRecordings = UnreadableRecordings(), progress: SecondPassProgress = SecondPassProgress()
    ) {
        self.progress = progress
        self.configuration = configuration
        self.archive = archive
        self.hub = hub
        self.unreadable = unreadable
    }

    /// Returns the transcribed recordings that have neither a second pass nor an equally good pass, oldest first.
    package func waiting() async throws -> [RecordingSummary] {
        var waiting: [RecordingSummary] = []
        for recording in try await archive.recordings()
        where recording.length > .zero && recording.transcribedUpTo >= recording.length && !recording.isMissing
            && !recording.isSealed && !unreadable.contains(recording.id)
        {
            let hasPass = try await archive.passes(of: recording.id).contains { configuration.engine.suffices($0) }
            if !hasPass { waiting.append(recording) }
        }
        return waiting
    }

    /// Transcribes the waiting recordings. If one fails, reports a fault and continues with the next. Skips erased
    /// recordings.
    ///
    /// - Parameters:
    ///   - recordings: a subset of the waiting recordings; nil for all.
    ///   - pool: low-priority workers with the profile `final`. If another engine replaces the configured one, nothing
    ///     is transcribed, and a fault says why.
    /// - Returns: the IDs of the transcribed recordings.
    /// - Throws: `CancellationError`; `DeviceError` if the engine cannot be loaded, or if two recordings in a row
    ///   failed for the same reason.
    @discardableResult
    package func run(_ recordings: [RecordingSummary]? = nil, pool: WorkerPool) async throws -> [Int] {
        let waiting = if let recordings { recordings } else { try await waiting() }
        guard !waiting.isEmpty else { return [] }
        let engine = try await pool.prepare()
        await hub.publish(engineErrorOf: pool)
        guard isConfigured(engine) else { return [] }
        let storage = configuration.storage.directory
        let jobs = SequentialJobs(storage: storage, archive: archive, hub: hub, unreadable: unreadable)
        defer { progress.end() }
        return try await jobs.run(waiting) { recording in
            progress.begin(recording, waiting: waiting.count { $0.id > recording.id })
            let path = RecordingFolder(storage: storage, recording: recording.id).audio
            do { try await transcribe(recording, at: path, pool: pool, engine: engine) } catch {
                // New workers may be able to transcribe the next recording.
                await pool.releaseIdle()
                throw error
            }
        }
    }

    /// Returns whether the workers run the configured engine, not its replacement.
    private func isConfigured(_ engine: EngineDescription) -> Bool {
        configuration.engine.suffices(
            PassSummary(
                id: 0, recording: 0, engine: engine, profile: SecondPass.profile, isComplete: true, lastSegment: 0,
                committedUpTo: .zero))
    }

    private func transcribe(
        _ recording: RecordingSummary, at path: String, pool: WorkerPool, engine: EngineDescription
    ) async throws {
        try RecordedAudio.check(path)
        let interrupted = try await archive.passes(of: recording.id).last {
            !$0.isComplete && $0.profile == SecondPass.profile && $0.engine == engine
        }
        if let interrupted {
            do {
                return try await transcribe(
                    recording, at: path, pool: pool, engine: engine, pass: interrupted.id, continuing: interrupted)
            } catch is Transcriber.Diverged {
                // The settings or the vocabulary have changed. The incomplete pass stays, but is never shown.
            }
        }
        let pass = try await archive.beginPass(
            recording: recording.id, engine: engine, profile: SecondPass.profile)
        try await transcribe(recording, at: path, pool: pool, engine: engine, pass: pass)
    }

    private func transcribe(
        _ recording: RecordingSummary, at path: String, pool: WorkerPool, engine: EngineDescription, pass: Int,
        continuing interrupted: PassSummary? = nil
    ) async throws {
        let gaps = try await archive.transcript(of: recording.id)?.1.gaps ?? []
        let settings = configuration.transcriberSettings(for: engine, profile: SecondPass.profile)
        _ = try await SecondPass(pool: pool, settings: settings).run(
            { RecordedAudio(of: recording, at: path, gaps: gaps) },
            into: UnreportedSink(
                archive: archive, recording: recording.id, pass: pass, engine: engine, pool: pool, progress: progress),
            adaptation: interrupted?.adaptation,
            committed: interrupted.flatMap {
                $0.lastSegment > 0 ? Transcriber.Continuation(segment: $0.lastSegment, end: $0.committedUpTo) : nil
            })
        try await archive.endPass(pass, recording: recording.id)
    }
}

/// Commits segments without reporting them, because clients already have the live text.
private struct UnreportedSink: TranscriptSink {
    let archive: any Archive
    let recording: Int
    let pass: Int
    let engine: EngineDescription
    let pool: WorkerPool
    let progress: SecondPassProgress

    /// Rejects the text of a replacement engine, which would be no better than the live text.
    func recordEngine(_ engine: EngineDescription) async throws {
        guard engine != self.engine else { return }
        let error = await pool.consumeEngineError()
        throw RecordedAudio.Unreadable(
            error: DeviceError(
                error?.code ?? .failed, error?.operation ?? "decode-worker", status: error?.status ?? 0,
                "recording \(recording) keeps its text, and is transcribed again after the next start: "
                    + (error?.message ?? "\(self.engine.name) fails on the audio")))
    }

    func commit(_ segments: [Segment], adaptation: AdaptationState?) async throws {
        try await archive.commit(segments, adaptation: adaptation, pass: pass, recording: recording)
        if let last = segments.last { progress.advance(to: last.range.end) }
    }
}
