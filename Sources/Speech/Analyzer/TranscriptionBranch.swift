import Core
import Recognition
import Synchronization
import System

/// A transcriber's analysis, which uses the same loop that transcribes recordings.
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
            // A worker stops at its next step, for which its task waits.
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
        /// The first segment of the speech that has a volatile result.
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
            // Held-back text is not a result.
            if segment.heldBack != nil { segment.alternatives = [] }
            let result = SpeechTranscriber.Result(segment, transcriber.preset)
            let isReported = state.withLock { state in
                state.finalizedThrough = result.range.end
                // An empty result revokes a volatile one, but not that of the next group.
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
