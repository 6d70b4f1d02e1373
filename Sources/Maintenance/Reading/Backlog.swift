import Archive
import Audio
import Core
import Recognition
import Settings

/// Transcribes recordings whose text is missing or incomplete, starting after the last committed segment.
///
/// May be cancelled or killed: committed text stays, and the next run continues after it.
package struct Backlog: Sendable {
    private let configuration: Configuration
    private let archive: SQLiteArchive
    private let hub: EventHub
    private let unreadable: UnreadableRecordings

    /// - Parameter unreadable: the recordings to skip. Recordings that cannot be read are added.
    package init(
        configuration: Configuration, archive: SQLiteArchive, hub: EventHub,
        unreadable: UnreadableRecordings = UnreadableRecordings()
    ) {
        self.configuration = configuration
        self.archive = archive
        self.hub = hub
        self.unreadable = unreadable
    }

    /// Returns the recordings with missing text, oldest first.
    package func waiting() async throws -> [RecordingSummary] {
        try await archive.unfinished().filter {
            $0.transcribedUpTo < $0.length && !$0.isMissing && !$0.isSealed && !unreadable.contains($0.id)
        }
    }

    /// Transcribes all waiting recordings. If one fails, reports a fault and continues with the next. Skips erased
    /// recordings.
    ///
    /// - Returns: the IDs of recordings that are complete now.
    /// - Throws: `CancellationError`; `DeviceError` if the engine cannot be loaded, or if two recordings in a row
    ///   failed for the same reason.
    @discardableResult
    package func run(pool: WorkerPool) async throws -> [Int] {
        let waiting = try await waiting()
        guard !waiting.isEmpty else { return [] }
        let engine = try await pool.prepare()
        await hub.publish(engineErrorOf: pool)
        var settings = configuration.transcriberSettings(for: engine, profile: await pool.profile)
        settings.alternatives = 3
        let transcriber = Transcriber(pool: pool, settings: settings)
        let storage = configuration.storage.directory
        let jobs = SequentialJobs(storage: storage, archive: archive, hub: hub, unreadable: unreadable)
        return try await jobs.run(waiting) { recording in
            let folder = RecordingFolder(storage: storage, recording: recording.id)
            try await transcribe(recording, in: folder, with: transcriber, engine: engine, profile: await pool.profile)
        }
    }

    private func transcribe(
        _ recording: RecordingSummary, in folder: RecordingFolder, with transcriber: Transcriber,
        engine: EngineDescription, profile: String
    ) async throws {
        try RecordedAudio.check(folder.audio)
        let passes = try await archive.passes(of: recording.id)
        let (pass, start, firstID): (Int, SamplePosition, Int)
        var adaptation: AdaptationState?
        if let last = passes.last, !last.isComplete, last.engine == engine, last.profile == profile {
            // `transcribedUpTo` includes silence, but if there are several passes, it may belong to another one.
            let settled = passes.count == 1 ? recording.transcribedUpTo : .zero
            pass = last.id
            start = min(
                recording.length, configuration.speech.start(after: last.committedUpTo, settled: settled))
            firstID = last.lastSegment + 1
            adaptation = last.adaptation
        } else {
            pass = try await archive.beginPass(recording: recording.id, engine: engine, profile: profile)
            (start, firstID) = (.zero, 1)
        }
        let source = RecordedAudio(
            of: recording, at: folder.audio, gaps: try await archive.transcript(of: recording.id)?.1.gaps ?? [],
            from: start)
        _ = try await transcriber.run(
            source,
            into: archiveSink(archive, recording: recording.id, pass: pass, engine: engine, hub: hub),
            start: start, firstID: firstID, before: adaptation)
        // Otherwise, silence at the end would count as not transcribed.
        try await archive.markTranscribed(upTo: recording.length, recording: recording.id)
        try await archive.endPass(pass, recording: recording.id)
    }
}
