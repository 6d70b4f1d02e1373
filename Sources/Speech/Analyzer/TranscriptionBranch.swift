import Core
import Recognition
import Synchronization
import System

/// A transcriber's branch of the analysis, which uses the loop that also transcribes recordings.
final class TranscriptionBranch: AnalysisBranch {
    let input = AudioInput()
    private let transcriber: SpeechTranscriber
    private let request: BranchRequest

    init(_ transcriber: SpeechTranscriber, _ request: BranchRequest) {
        self.transcriber = transcriber
        self.request = request
    }

    func run(
        prepared: @escaping @Sendable () -> Void, settled: @escaping @Sendable (SamplePosition) -> Void
    ) async throws {
        do {
            let (pool, scratch) = try EngineSelection(request.options).select(
                for: transcriber.locale, hint: transcriber.hint, vocabulary: request.context.vocabularyText)
            defer { withExtendedLifetime(scratch) {} }
            // `end` stops the worker after its current step. `transcribe` then returns.
            try await withTaskCancellationHandler {
                let result = await Result.of { try await transcribe(by: pool, prepared, settled) }
                await pool.end()
                try result.get()
            } onCancel: {
                Task { await pool.end() }
            }
        } catch { throw SFSpeechError.ofEngine(error) }
    }

    private func transcribe(
        by pool: WorkerPool, _ prepared: () -> Void, _ settled: @escaping @Sendable (SamplePosition) -> Void
    ) async throws {
        let engine = try await pool.prepare()
        prepared()
        var settings = Transcriber.Settings()
        settings.speech.sensitivity = request.sensitivity.settingsValue
        settings.groups = GroupSettings(
            maximumSeconds: engine.name == EngineSelection.moonshine ? MoonshineModel.maximumGroupSeconds : 0)
        let options = transcriber.preset.reportingOptions
        if !options.contains(.alternativeTranscriptions) { settings.alternatives = 0 }
        settings.decodesDuringSpeech = options.contains(.volatileResults)
        settings.progressInterval = 0
        _ = try await Transcriber(pool: pool, settings: settings).run(
            input, into: ResultSink(transcriber, settled: settled))
    }

    func finish(throwing error: SFSpeechError?) { transcriber.results.queue.finish(throwing: error) }

    func cancel() {
        transcriber.results.queue.cancel()
        input.queue.cancel()
    }
}

/// Reports segments as results.
private final class ResultSink: TranscriptSink {
    private struct State {
        var finalizedThrough = AudioTime.zero
        /// The ID of the first segment in the group with a volatile result; nil if there is none.
        var volatileSegment: Int?
    }

    private let transcriber: SpeechTranscriber
    private let settled: @Sendable (SamplePosition) -> Void
    private let state = Mutex(State())

    init(_ transcriber: SpeechTranscriber, settled: @escaping @Sendable (SamplePosition) -> Void) {
        self.transcriber = transcriber
        self.settled = settled
    }

    private var results: AsyncQueue<SpeechTranscriber.Result> { transcriber.results.queue }

    var wantsPartials: Bool { transcriber.preset.reportingOptions.contains(.volatileResults) }

    func commit(_ segments: [Segment], adaptation: AdaptationState?) async throws {
        for (index, segment) in segments.enumerated() {
            var segment = segment
            // Text that the engine rejected as improbable is not a result.
            if segment.heldBack != nil { segment.alternatives = [] }
            let result = SpeechTranscriber.Result(segment, transcriber.preset)
            let isReported = state.withLock { state in
                state.finalizedThrough = result.range.end
                // An empty result revokes the volatile result of its group, but not that of the next group.
                let hasVolatile = state.volatileSegment.map { $0 <= segment.id } ?? false
                if hasVolatile, index == segments.count - 1 { state.volatileSegment = nil }
                return !result.words.isEmpty || hasVolatile
            }
            if isReported { try await results.send(result) { !$0.isFinal && $0.range.start < result.range.end } }
        }
    }

    func partial(segment: Int, range: SampleRange, text: String) async {
        let end = state.withLock { state in
            if !text.isEmpty { state.volatileSegment = segment }
            return state.finalizedThrough
        }
        let range = AudioTimeRange(start: max(end, AudioTime(range.start)), end: AudioTime(range.end))
        guard !range.isEmpty else { return }
        results.sendNow(SpeechTranscriber.Result(volatile: text, range: range, finalizedThrough: end)) { !$0.isFinal }
    }

    func markTranscribed(upTo position: SamplePosition) async { settled(position) }

    func recordEngine(_ engine: EngineDescription) async {}

    func fault(_ error: DeviceError) async { Log.debug(.recognizing, "fault", ["message": error.message]) }
}
