import Core

/// Transcribes audio into committed segments.
///
/// A loop runs steps concurrently: it reads audio, starts one utterance, finishes one utterance per worker, decodes the
/// audio across one seam between utterances, decodes one partial result, and sends the current speech to a worker.
/// `Transcription` holds the state of committed and waiting utterances.
package struct Transcriber: Sendable {
    /// How audio is segmented and decoded.
    package struct Settings: Sendable {
        package var speech = SpeechSettings()
        /// How utterances are grouped for the engine. By default, each utterance is decoded separately.
        package var groups = GroupSettings()
        package var alternatives = 3
        /// Whether workers decode utterances while they are spoken, for live audio. This only affects when segments are
        /// committed. It is ignored if utterances are grouped.
        package var decodesDuringSpeech = false
        /// The number of transcribed or silent samples after which the sink's `markTranscribed` is called again. By
        /// default, 10 s.
        package var progressInterval = Int64(10 * SamplePosition.rate)

        package init() {}
    }

    /// The last segment that an earlier run over the same audio committed.
    package struct Continuation: Hashable, Sendable {
        var segment: Int
        var end: SamplePosition

        package init(segment: Int, end: SamplePosition) {
            self.segment = segment
            self.end = end
        }
    }

    /// The audio is segmented or decoded differently than in the earlier run, so this run cannot continue its segments.
    package struct Diverged: Error {}

    private enum Step: Sendable {
        case read(AudioChunk?)
        case begun(Transcription.Job, Result<WorkerPool.Session, any Error>)
        case finished(Transcription.Job, Result<WorkerPool.Decoded, any Error>)
        case bridged(Transcription.Bridge, Result<WorkerPool.Decoded, any Error>)
        case partial(PartialSession.Outcome)
        case sent(HeadStart.Outcome)
    }

    private let pool: WorkerPool
    private let settings: Settings

    package init(pool: WorkerPool, settings: Settings = Settings()) {
        self.pool = pool
        self.settings = settings
    }

    /// Transcribes until the source ends and everything is committed.
    ///
    /// An utterance on which the engine fails repeatedly becomes a segment without words that has the end reason
    /// `error`.
    ///
    /// - Parameters:
    ///   - start: the position of the source's first sample.
    ///   - firstID: the ID of the first segment.
    ///   - adaptation: the state for the whole recording, if known; otherwise each utterance passes its state to the
    ///     next.
    ///   - before: the initial state if `adaptation` is nil and earlier audio was transcribed.
    ///   - committed: the last segment of an earlier run, after which this run continues.
    /// - Throws: errors from the source and the sink; `DeviceError` with `missing` or `damaged` if the engine cannot be
    ///   loaded; `Diverged` before any commit if this run does not reproduce `committed`.
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
        let decodesDuringSpeech = settings.decodesDuringSpeech && settings.groups.maximumSeconds == 0
        var reportedUpTo = start
        var currentEngine: EngineDescription?
        try await withThrowingTaskGroup(of: Step.self) { group in
            do {
                if work.beginReading() { group.addTask { .read(try await source.next()) } }
                while let step = try await group.next() {
                    switch step {
                    case .read(let chunk):
                        for rotation in work.append(chunk) { await sink.rotated(at: rotation) }
                    case .begun(let job, .success(let session)):
                        work.recordStart(of: job, adaptation: session.adaptation)
                        add(session, of: job, to: &group)
                    case .begun(let job, .failure(let error)):
                        work.recordStart(of: job, adaptation: nil)
                        try await fail(job, error, in: &work, into: sink)
                    case .finished(let job, .failure(let error)):
                        try await fail(job, error, in: &work, into: sink)
                    case .finished(let job, .success(let decoded)):
                        if decoded.engine != currentEngine {
                            currentEngine = decoded.engine
                            try await sink.recordEngine(decoded.engine)
                        }
                        try await commit(work.finish(job, decoded), into: sink)
                    case .bridged(let bridge, .success(let decoded)):
                        try await commit(work.finish(bridge, decoded), into: sink)
                    case .bridged(let bridge, .failure(let error)):
                        guard (error as? DeviceError)?.concernsOneUtterance == true else { throw error }
                        try await commit(work.finish(bridge, nil), into: sink)
                    case .partial(let outcome):
                        if let partial = partials.handle(outcome, open: work.cutter.open) {
                            await sink.partial(segment: partial.id, range: partial.range, text: partial.text)
                        }
                    case .sent(let outcome): headStart.handle(outcome)
                    }
                    if case .finished = step, let error = await pool.consumeEngineError() { await sink.fault(error) }
                    if work.isContinued == false { throw Diverged() }
                    if work.settledWatermark - reportedUpTo > settings.progressInterval {
                        reportedUpTo = work.settledWatermark
                        try await sink.markTranscribed(upTo: reportedUpTo)
                    }
                    if work.beginReading() { group.addTask { .read(try await source.next()) } }
                    if let bridge = work.nextBridge() { add(bridge, to: &group) }
                    if !headStart.isBusy, let job = work.nextJob() {
                        add(job, headStart: headStart.release(for: job.cut), to: &group)
                    }
                    if decodesDuringSpeech, let step = headStart.next(of: work) {
                        group.addTask { .sent(await step.run()) }
                    }
                    if let step = partials.next(
                        of: work.cutter, adaptation: work.adaptation, isWanted: sink.wantsPartials)
                    {
                        group.addTask { .partial(await step.run()) }
                    }
                }
            } catch {
                group.cancelAll()
                await headStart.abandon()
                while let step = await group.nextResult() { await abandon(workerOf: step) }
                throw error
            }
        }
        guard committed == nil || work.isContinued == true else { throw Diverged() }
        try await sink.markTranscribed(upTo: work.settledWatermark)
        return work.statistics
    }

    private func add(
        _ job: Transcription.Job, headStart: (worker: Lease, rest: [Int16])?,
        to group: inout ThrowingTaskGroup<Step, any Error>
    ) {
        let (pool, alternatives) = (pool, settings.alternatives)
        group.addTask {
            let session = await Result.of {
                if let headStart,
                    let session = try? await pool.close(headStart.worker, after: headStart.rest, of: job.cut)
                {
                    return session
                }
                return try await pool.begin(
                    job.cut.samples, adaptation: job.adaptation, alternatives: alternatives, parts: parts(of: job))
            }
            return .begun(job, session)
        }
    }

    private func add(
        _ session: WorkerPool.Session, of job: Transcription.Job, to group: inout ThrowingTaskGroup<Step, any Error>
    ) {
        let (pool, alternatives) = (pool, settings.alternatives)
        group.addTask {
            let decoded = await Result.of {
                let decoded = try await pool.finish(
                    session, job.cut.samples, adaptation: job.adaptation, alternatives: alternatives,
                    parts: parts(of: job))
                return try await decodedWithContext(job, decoded, adapts: session.adaptation != nil)
            }
            return .finished(job, decoded)
        }
    }

    /// Decodes a group with low confidence again, together with the audio before it, and merges both results.
    ///
    /// An engine that adapts, such as PocketSphinx as the fallback, already uses the audio before the group.
    private func decodedWithContext(
        _ job: Transcription.Job, _ decoded: WorkerPool.Decoded, adapts: Bool
    ) async throws -> WorkerPool.Decoded {
        let context = job.cut.context
        guard !adapts, !context.isEmpty, decoded.hypothesis.hasLowConfidence else { return decoded }
        let offset = Int64(context.count)
        let parts =
            [SampleRange(.zero, SamplePosition(offset))]
            + job.cut.group.parts.map { SampleRange($0.start + offset, $0.end + offset) }
        guard let joined = try await pool.decodeOnce(context + job.cut.samples, parts: parts) else { return decoded }
        return decoded.merged(with: joined, from: offset)
    }

    /// Returns the ranges with speech for an engine that decodes several utterances as one; none for other engines.
    private func parts(of job: Transcription.Job) -> [SampleRange] {
        settings.groups.maximumSeconds > 0 ? job.cut.group.parts : []
    }

    private func add(_ bridge: Transcription.Bridge, to group: inout ThrowingTaskGroup<Step, any Error>) {
        let pool = pool
        group.addTask {
            let decoded = await Result.of {
                let session = try await pool.begin(bridge.samples, adaptation: bridge.adaptation, alternatives: 0)
                return try await pool.finish(session, bridge.samples, adaptation: bridge.adaptation, alternatives: 0)
            }
            return .bridged(bridge, decoded)
        }
    }

    /// Releases the workers of steps whose outcome is no longer needed.
    private func abandon(workerOf step: Result<Step, any Error>) async {
        switch step {
        case .success(.sent(.sent(let worker))): await pool.abandon(worker)
        case .success(.begun(_, .success(let session))): await pool.abandon(session.worker)
        default: break
        }
    }

    private func fail(
        _ job: Transcription.Job, _ error: any Error, in work: inout Transcription, into sink: any TranscriptSink
    ) async throws {
        guard let error = error as? DeviceError, error.concernsOneUtterance else { throw error }
        await sink.fault(error)
        try await commit(work.fail(job), into: sink)
    }

    private func commit(_ groups: [Transcription.Committed], into sink: any TranscriptSink) async throws {
        for (segments, adaptation) in groups { try await sink.commit(segments, adaptation: adaptation) }
    }
}

extension DeviceError {
    /// Whether the engine failed only on this audio and may succeed on other audio. False for errors in the model.
    var concernsOneUtterance: Bool { ![.missing, .damaged, .denied, .unsupported].contains(code) }
}
