import Audio
import Core
import Recognition
import Settings

/// Reads recordings that are written down once more, slower and better, as a pass of its own; live text stays as it is.
///
/// May be cancelled, or killed: what was committed stays, and the next run goes on behind it.
package struct SecondPassJob: Sendable {
    private let configuration: Configuration
    private let archive: any ArchiveMaintenance
    private let hub: EventHub
    private let unreadable: UnreadableRecordings
    private let progress: SecondPassProgress

    /// - Parameters:
    ///   - unreadable: what not to try again; it grows.
    ///   - progress: is told what is being read, and how far.
    package init(
        configuration: Configuration, archive: any ArchiveMaintenance, hub: EventHub,
        unreadable: UnreadableRecordings = UnreadableRecordings(), progress: SecondPassProgress = SecondPassProgress()
    ) {
        self.progress = progress
        self.configuration = configuration
        self.archive = archive
        self.hub = hub
        self.unreadable = unreadable
    }

    /// The recordings that were read to their end, but neither by the second pass nor as well as the engine would; oldest
    /// first.
    package func waiting() async throws -> [RecordingSummary] {
        var waiting: [RecordingSummary] = []
        for recording in try await archive.recordings()
        where recording.length > .zero && recording.transcribedUpTo >= recording.length && !recording.isMissing
            && !recording.isSealed && !unreadable.contains(recording.id)
        {
            let isRead = try await archive.passes(of: recording.id).contains { configuration.engine.suffices($0) }
            if !isRead { waiting.append(recording) }
        }
        return waiting
    }

    /// Reads them all. One that fails is a fault, and the next one's turn; one that is erased meanwhile is left out.
    ///
    /// - Parameters:
    ///   - recordings: of those that are waiting; nil for all.
    ///   - pool: niced workers with the profile `final`. Where these cannot read, what reads in their place would read
    ///       no better than before: then none is read, and a fault says why.
    /// - Returns: the recordings that were read.
    /// - Throws: `CancellationError`; `DeviceError` where the engine cannot be loaded, or two in a row failed for the same.
    @discardableResult
    package func run(_ recordings: [RecordingSummary]? = nil, pool: WorkerPool) async throws -> [Int] {
        let waiting = if let recordings { recordings } else { try await waiting() }
        guard !waiting.isEmpty else { return [] }
        let engine = try await pool.prepare()
        await hub.publish(complaintOf: pool)
        guard wouldSuffice(engine) else { return [] }
        let storage = configuration.storage.directory
        let turns = SequentialJobs(storage: storage, archive: archive, hub: hub, unreadable: unreadable)
        defer { progress.end() }
        return try await turns.run(waiting) { recording in
            progress.begin(recording, waiting: waiting.count { $0.id > recording.id })
            let path = RecordingFolder(storage: storage, recording: recording.id).audio
            do { try await read(recording, at: path, pool: pool, engine: engine) } catch {
                // What died of this recording may read the next one.
                await pool.releaseIdle()
                throw error
            }
        }
    }

    /// Whether what these workers read is what was wanted, and not another engine's.
    private func wouldSuffice(_ engine: EngineDescription) -> Bool {
        configuration.engine.suffices(
            PassSummary(
                id: 0, recording: 0, engine: engine, profile: SecondPass.profile, isComplete: true, lastSegment: 0,
                committedUpTo: .zero))
    }

    private func read(
        _ recording: RecordingSummary, at path: String, pool: WorkerPool, engine: EngineDescription
    ) async throws {
        try RecordedAudio.check(path)
        let broken = try await archive.passes(of: recording.id).last {
            !$0.isComplete && $0.profile == SecondPass.profile && $0.engine == engine
        }
        if let broken {
            do {
                return try await read(recording, at: path, pool: pool, engine: engine, pass: broken.id, behind: broken)
            } catch is Transcriber.Diverged {
                // Settings or vocabulary have changed since: what it has stays, and is shown to nobody.
            }
        }
        let pass = try await archive.beginPass(
            recording: recording.id, engine: engine, profile: SecondPass.profile)
        try await read(recording, at: path, pool: pool, engine: engine, pass: pass)
    }

    private func read(
        _ recording: RecordingSummary, at path: String, pool: WorkerPool, engine: EngineDescription, pass: Int,
        behind broken: PassSummary? = nil
    ) async throws {
        let gaps = try await archive.transcript(of: recording.id)?.1.gaps ?? []
        let settings = configuration.transcriberSettings(for: engine)
        _ = try await SecondPass(pool: pool, settings: settings).run(
            { RecordedAudio(of: recording, at: path, gaps: gaps) },
            into: QuietSink(
                archive: archive, recording: recording.id, pass: pass, engine: engine, pool: pool, progress: progress),
            adaptation: broken?.adaptation,
            committed: broken.flatMap {
                $0.lastSegment > 0 ? Transcriber.Continuation(segment: $0.lastSegment, end: $0.committedUpTo) : nil
            })
        try await archive.endPass(pass, recording: recording.id)
    }
}

/// Takes segments into the archive without telling anybody: who watches has had the live text.
private struct QuietSink: TranscriptSink {
    let archive: any Archive
    let recording: Int
    let pass: Int
    let engine: EngineDescription
    let pool: WorkerPool
    let progress: SecondPassProgress

    /// What reads in the wanted engine's place would read no better than before.
    func isRead(by engine: EngineDescription) async throws {
        guard engine != self.engine else { return }
        let complaint = await pool.takeComplaint()
        throw RecordedAudio.Unreadable(
            error: DeviceError(
                complaint?.code ?? .failed, complaint?.operation ?? "decode-worker", status: complaint?.status ?? 0,
                "recording \(recording) keeps the text that it has, until it is read again after the next start: "
                    + (complaint?.message ?? "\(self.engine.name) fails on what it hears")))
    }

    func commit(_ segment: Segment, adaptation: AdaptationState?) async throws {
        try await commit([segment], adaptation: adaptation)
    }

    func commit(_ segments: [Segment], adaptation: AdaptationState?) async throws {
        try await archive.commit(segments, adaptation: adaptation, pass: pass, recording: recording)
        if let last = segments.last { progress.reach(last.range.end) }
    }
}
