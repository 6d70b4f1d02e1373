import FoundationEssentials
import System

/// Runs an ``SFSpeechRecognitionTask`` with a ``SpeechAnalyzer``.
struct RecognitionDriver: Sendable {
    /// An event in a task. The last one is `succeeded` or `failed`.
    enum Event: Sendable {
        /// Speech was detected for the first time.
        case speech
        case result(SFSpeechRecognitionResult)
        case audioEnded
        /// The number of seconds of audio processed so far, including silence.
        case processed(TimeInterval)
        case succeeded
        case failed(SFSpeechError)
    }

    private let transcriber: SpeechTranscriber
    private let analyzer: SpeechAnalyzer
    private let context: AnalysisContext
    private let failure: SFSpeechError?
    private let task: SFSpeechRecognitionTask
    private let report: @Sendable (Event) -> Void

    init(
        locale: Locale, options: SpeechAnalyzer.Options, request: SFSpeechRecognitionRequest, hint: TaskHint,
        task: SFSpeechRecognitionTask, report: @escaping @Sendable (Event) -> Void
    ) {
        let settings = request.currentSettings
        var preset = SpeechTranscriber.Preset(reportingOptions: [.alternativeTranscriptions])
        if settings.reportsPartialResults { preset.reportingOptions.insert(.volatileResults) }
        transcriber = SpeechTranscriber(locale: locale, preset: preset, hint: settings.hint ?? hint)
        analyzer = SpeechAnalyzer(modules: [transcriber], options: options)
        var vocabulary = ""
        var failure: SFSpeechError?
        do {
            vocabulary = try settings.languageModel.map { try SFSpeechLanguageModel.text(of: $0.languageModel) } ?? ""
        } catch { failure = SFSpeechError(error) }
        self.failure = failure
        context = AnalysisContext(contextualStrings: settings.contextualStrings, vocabulary: vocabulary)
        self.task = task
        self.report = report
    }

    /// Starts the task. Does not retain the request, because releasing the request ends the audio.
    func start(_ request: SFSpeechRecognitionRequest) {
        switch request {
        case let request as SFSpeechAudioBufferRecognitionRequest:
            let inputs = request.inputs
            begin(finish: { inputs.finish() }) { try await analyzer.analyzeSequence(SpeechResults(queue: inputs)) }
        case let request as SFSpeechURLRecognitionRequest:
            let url = request.url
            let finished = StopFlag()
            begin(finish: { finished.raise() }) {
                try await analyzer.analyzeSequence(AudioFile(url: url).prefix { _ in !finished.isRaised })
            }
        default: begin(finish: {}) {}
        }
    }

    private func begin(finish: @escaping @Sendable () -> Void, _ analyze: @escaping @Sendable () async throws -> Void) {
        task.begin(
            Task {
                do {
                    try await run(analyze)
                    task.complete(nil)
                    report(.succeeded)
                } catch {
                    await analyzer.cancelAndFinishNow()
                    let error =
                        task.isCancelled ? SFSpeechError(.canceled, "the task was cancelled") : SFSpeechError(error)
                    task.complete(error)
                    report(.failed(error))
                }
            }, finish: finish)
    }

    private func run(_ analyze: @escaping @Sendable () async throws -> Void) async throws {
        if let failure { throw failure }
        try await analyzer.setContext(context)
        let report = report
        await analyzer.setVolatileRangeChangedHandler { range, changedStart, _ in
            if changedStart { report(.processed(range.start.seconds)) }
        }
        try await analyzer.prepareToAnalyze()
        task.update(.running)
        async let speech = readResults()
        try await analyze()
        task.update(.finishing)
        report(.audioEnded)
        try await analyzer.finalizeAndFinishThroughEndOfInput()
        report(.result(try await speech.result(isFinal: true)))
    }

    private func readResults() async throws -> RecognizedSpeech {
        var speech = RecognizedSpeech()
        var hasSpoken = false
        for try await result in transcriber.results {
            speech.add(result)
            if !hasSpoken {
                hasSpoken = true
                report(.speech)
            }
            if transcriber.preset.reportingOptions.contains(.volatileResults) {
                report(.result(speech.result(isFinal: false)))
            }
        }
        try Task.checkCancellation()
        return speech
    }
}
