import Core

/// One transcription: audio in, committed segments out.
///
/// A loop over steps that run beside each other: reading, beginning one utterance, finishing as many as there are
/// workers, reading across one seam, and one partial reading. All state lives in `Transcription`; the steps only wait.
package struct Transcriber: Sendable {
    /// How audio is cut and read.
    package struct Settings: Sendable {
        /// How speech is told from silence.
        package var speech = SpeechSettings()
        /// Which utterances are read as one, and so how long one may be: as the engine wants it. The default is each alone.
        package var groups = GroupSettings()
        /// Other readings a segment. The default is 3.
        package var alternatives = 3
        /// Whether workers hear utterances while they are spoken: for audio that comes as slowly as time. It changes when a
        /// segment is committed, and nothing else. Only where each utterance is read alone. The default is false.
        package var hearsEarly = false

        package init() {}
    }

    /// The last segment that an earlier run over the same audio has committed.
    package struct Continuation: Hashable, Sendable {
        /// Its number.
        var segment: Int
        /// Where it ends.
        var end: SamplePosition

        package init(segment: Int, end: SamplePosition) {
            self.segment = segment
            self.end = end
        }
    }

    /// The audio is cut or read otherwise than by the earlier run: its segments cannot be continued.
    package struct Diverged: Error {}

    private enum Step: Sendable {
        case read(AudioChunk?)
        case begun(Transcription.Job, Result<WorkerPool.Session, any Error>)
        case finished(Transcription.Job, Result<WorkerPool.Decoded, any Error>)
        case bridged(Transcription.Bridge, Result<WorkerPool.Decoded, any Error>)
        case partial(PartialSession.Outcome)
        case heard(HeadStart.Outcome)
    }

    /// In silence the sink is told every ten seconds how far it reaches.
    private static let tellEvery = Int64(10 * SamplePosition.rate)

    private let pool: WorkerPool
    private let settings: Settings

    package init(pool: WorkerPool, settings: Settings = Settings()) {
        self.pool = pool
        self.settings = settings
    }

    /// Transcribes until the source ends and everything is committed.
    ///
    /// An utterance on which the engine fails again and again becomes a segment without words, ended by `error`.
    /// - Parameters:
    ///   - start: where the source's first sample lies.
    ///   - firstID: the number of the first segment.
    ///   - adaptation: the adaptation state of the whole recording, where it is known; else each utterance hands on what it taught.
    ///   - before: the adaptation state from which the first utterance then starts, where something was transcribed before.
    ///   - committed: what an earlier run has committed; it goes on behind that.
    /// - Throws: what source and sink throw; `DeviceError` with `missing` or `damaged` where the engine cannot be loaded;
    ///   `Diverged` where `committed` is not what this run comes to, before anything else is committed.
    package func run(
        _ source: any AudioSource, into sink: any TranscriptSink, start: SamplePosition = .zero, firstID: Int = 1,
        adaptation: AdaptationState? = nil, before: AdaptationState? = nil, committed: Continuation? = nil
    ) async throws -> Statistics {
        var work = Transcription(
            settings: settings.speech, groups: settings.groups, start: start, firstID: firstID, adaptation: adaptation,
            before: before,
            committed: committed)
        var partials = PartialSession(command: pool.partials)
        var headStart = HeadStart(pool: pool, alternatives: settings.alternatives)
        let hearsEarly = settings.hearsEarly && settings.groups.longestSeconds == 0
        var told = start
        var reader: EngineDescription?
        try await withThrowingTaskGroup(of: Step.self) { group in
            do {
                if work.beginsReading() { group.addTask { .read(try await source.next()) } }
                while let step = try await group.next() {
                    switch step {
                    case .read(let chunk):
                        for rotation in work.take(chunk) { await sink.rotated(at: rotation) }
                    case .begun(let job, .success(let session)):
                        work.begun(job, adaptation: session.adaptation)
                        add(session, of: job, to: &group)
                    case .begun(let job, .failure(let error)):
                        work.begun(job, adaptation: nil)
                        try await fail(job, error, in: &work, into: sink)
                    case .finished(let job, .failure(let error)):
                        try await fail(job, error, in: &work, into: sink)
                    case .finished(let job, .success(let decoded)):
                        if decoded.engine != reader {
                            reader = decoded.engine
                            try await sink.isRead(by: decoded.engine)
                        }
                        try await commit(work.finished(job, decoded), into: sink)
                    case .bridged(let bridge, .success(let decoded)):
                        try await commit(work.bridged(bridge, decoded), into: sink)
                    case .bridged(let bridge, .failure(let error)):
                        guard (error as? DeviceError)?.isOfOneUtterance == true else { throw error }
                        try await commit(work.bridged(bridge, nil), into: sink)
                    case .partial(let outcome):
                        if let partial = partials.take(outcome, open: work.cutter.open) {
                            await sink.partial(segment: partial.id, range: partial.range, text: partial.text)
                        }
                    case .heard(let outcome): headStart.take(outcome)
                    }
                    if case .finished = step, let complaint = await pool.takeComplaint() { await sink.fault(complaint) }
                    if work.isContinued == false { throw Diverged() }
                    if work.settledWatermark - told > Self.tellEvery {
                        told = work.settledWatermark
                        try await sink.transcribed(upTo: told)
                    }
                    if work.beginsReading() { group.addTask { .read(try await source.next()) } }
                    if let bridge = work.nextBridge() { add(bridge, to: &group) }
                    if !headStart.isBusy, let job = work.nextJob() {
                        add(job, heard: headStart.release(for: job.cut), to: &group)
                    }
                    if hearsEarly, let step = headStart.next(of: work) {
                        group.addTask { .heard(await step.run()) }
                    }
                    if let reading = partials.next(
                        of: work.cutter, adaptation: work.adaptation, wanted: sink.wantsPartials)
                    {
                        group.addTask { .partial(await reading.run()) }
                    }
                }
            } catch {
                group.cancelAll()
                await headStart.abandon()
                while let left = await group.nextResult() { await letGo(of: left) }
                throw error
            }
        }
        guard committed == nil || work.isContinued == true else { throw Diverged() }
        try await sink.transcribed(upTo: work.settledWatermark)
        return work.statistics
    }

    private func add(
        _ job: Transcription.Job, heard: (hearing: WorkerPool.Hearing, rest: [Int16])?,
        to group: inout ThrowingTaskGroup<Step, any Error>
    ) {
        let (pool, alternatives) = (pool, settings.alternatives)
        group.addTask {
            do {
                if let heard, let session = try? await pool.close(heard.hearing, behind: heard.rest, of: job.cut) {
                    return .begun(job, .success(session))
                }
                return .begun(
                    job,
                    .success(
                        try await pool.begin(
                            job.cut.samples, adaptation: job.adaptation, alternatives: alternatives,
                            parts: parts(of: job))))
            } catch { return .begun(job, .failure(error)) }
        }
    }

    private func add(
        _ session: WorkerPool.Session, of job: Transcription.Job, to group: inout ThrowingTaskGroup<Step, any Error>
    ) {
        let (pool, alternatives) = (pool, settings.alternatives)
        group.addTask {
            do {
                return .finished(
                    job,
                    .success(
                        try await pool.finish(
                            session, job.cut.samples, adaptation: job.adaptation, alternatives: alternatives,
                            parts: parts(of: job))))
            } catch { return .finished(job, .failure(error)) }
        }
    }

    /// Where speech is, for an engine that reads several utterances as one.
    private func parts(of job: Transcription.Job) -> [SampleRange] {
        settings.groups.longestSeconds > 0 ? job.cut.group.parts : []
    }

    private func add(_ bridge: Transcription.Bridge, to group: inout ThrowingTaskGroup<Step, any Error>) {
        let pool = pool
        group.addTask {
            do {
                let session = try await pool.begin(bridge.samples, adaptation: bridge.adaptation, alternatives: 0)
                return .bridged(
                    bridge,
                    .success(
                        try await pool.finish(session, bridge.samples, adaptation: bridge.adaptation, alternatives: 0)))
            } catch { return .bridged(bridge, .failure(error)) }
        }
    }

    /// The workers of steps whose outcome nobody waits for any more.
    private func letGo(of step: Result<Step, any Error>) async {
        switch step {
        case .success(.heard(.heard(let hearing))): await pool.abandon(hearing)
        case .success(.begun(_, .success(let session))): await pool.abandon(session)
        default: break
        }
    }

    private func fail(
        _ job: Transcription.Job, _ error: any Error, in work: inout Transcription, into sink: any TranscriptSink
    ) async throws {
        guard let error = error as? DeviceError, error.isOfOneUtterance else { throw error }
        await sink.fault(error)
        try await commit(work.failed(job), into: sink)
    }

    private func commit(_ groups: [Transcription.Committed], into sink: any TranscriptSink) async throws {
        for (segments, adaptation) in groups { try await sink.commit(segments, adaptation: adaptation) }
    }
}

extension DeviceError {
    /// Whether the engine failed on what it heard, so that it may read something else; not on its model.
    var isOfOneUtterance: Bool { ![.missing, .damaged, .denied, .unsupported].contains(code) }
}
