import Core
import System

/// Detects speech by its loudness above the background.
///
/// A transcriber in the same analyzer uses the detector's sensitivity. Transcription does not need a detector: it skips
/// silence anyway.
public final class SpeechDetector: SpeechModule {
    /// How easily sound counts as speech.
    public enum SensitivityLevel: String, Hashable, Sendable, CaseIterable {
        /// 4 dB above the threshold of `medium`.
        case low
        /// 9 dB above the background.
        case medium
        /// 3 dB below the threshold of `medium`.
        case high

        var settingsValue: SpeechSettings.Sensitivity {
            switch self {
            case .low: .low
            case .medium: .medium
            case .high: .high
            }
        }
    }

    /// The options of a detector.
    public struct DetectionOptions: Hashable, Sendable {
        /// How easily sound counts as speech.
        public var sensitivityLevel: SensitivityLevel

        /// Creates options.
        public init(sensitivityLevel: SensitivityLevel = .medium) { self.sensitivityLevel = sensitivityLevel }
    }

    /// A section of speech or silence.
    public struct Result: SpeechModuleResult, Hashable, Sendable {
        /// The section's range. The volatile result at the start of speech covers only the speech detected so far.
        public let range: AudioTimeRange
        /// The end of the audio whose results are final.
        public let resultsFinalizationTime: AudioTime
        /// True for speech, false for silence.
        public let speechDetected: Bool
    }

    /// How easily sound counts as speech.
    public let sensitivityLevel: SensitivityLevel
    /// The sections, in chronological order. There are no gaps between final sections, except for missing audio.
    public let results: SpeechResults<Result>

    fileprivate let reportsResults: Bool
    private let wasUsed = StopFlag()

    /// Creates a detector that reports results.
    ///
    /// - Parameter sensitivity: How easily sound counts as speech.
    public convenience init(sensitivity: SensitivityLevel = .medium) {
        self.init(detectionOptions: DetectionOptions(sensitivityLevel: sensitivity), reportResults: true)
    }

    /// Creates a detector.
    ///
    /// - Parameters:
    ///   - detectionOptions: How easily sound counts as speech.
    ///   - reportResults: Whether to report results. Pass false if the detector only sets a transcriber's sensitivity.
    public init(detectionOptions: DetectionOptions, reportResults: Bool) {
        sensitivityLevel = detectionOptions.sensitivityLevel
        reportsResults = reportResults
        results = SpeechResults(queue: AsyncQueue(capacity: SpeechTranscriber.maxPending))
    }
}

extension SpeechDetector: AnalyzableModule {
    func makeBranch(_ request: BranchRequest) throws -> any AnalysisBranch {
        guard wasUsed.raise() else {
            throw SFSpeechError(.invalidState, "this SpeechDetector was already used; create another one")
        }
        return DetectionBranch(self)
    }
}

private final class DetectionBranch: AnalysisBranch {
    let input = AudioInput()
    private let detector: SpeechDetector
    /// Nil if no results are reported.
    private var results: AsyncQueue<SpeechDetector.Result>? { detector.reportsResults ? detector.results.queue : nil }

    init(_ detector: SpeechDetector) { self.detector = detector }

    func run(
        prepared: @escaping @Sendable () -> Void, settled: @escaping @Sendable (SamplePosition) -> Void
    ) async throws {
        prepared()
        var settings = SpeechSettings()
        settings.sensitivity = detector.sensitivityLevel.settingsValue
        var segmenter = Segmenter(settings: settings)
        var levels = FrameLevels()
        var position = SamplePosition.zero
        /// The end of the last final result.
        var reportedEnd = SamplePosition.zero
        while let chunk = try await input.next() {
            var effects: [Segmenter.Effect] = []
            switch chunk {
            case .samples(let samples):
                position = position + Int64(samples.count)
                samples.withUnsafeBufferPointer { samples in
                    levels.append(samples) { effects += segmenter.handle(level: $0) }
                }
                try await report(effects, &reportedEnd)
            case .gap(let gap):
                levels.restart()
                try await report(segmenter.handle(gap: gap.range), &reportedEnd)
                try await send(to: gap.range.start, speechDetected: false, &reportedEnd)
                position = gap.range.end
                reportedEnd = position
            }
            settled(segmenter.settledWatermark)
        }
        try await report(segmenter.finish(at: position), &reportedEnd)
        try await send(to: position, speechDetected: false, &reportedEnd)
        settled(position)
    }

    private func report(_ effects: [Segmenter.Effect], _ reportedEnd: inout SamplePosition) async throws {
        for effect in effects {
            switch effect {
            case .began(_, let start):
                results?.sendNow(
                    SpeechDetector.Result(
                        range: AudioTimeRange(
                            SampleRange(start, start + Int64(SpeechSettings().startMilliseconds * 16))),
                        resultsFinalizationTime: AudioTime(min(reportedEnd, start)), speechDetected: true)
                ) { !$0.isFinal }
            case .ended(let utterance):
                try await send(to: utterance.speech.start, speechDetected: false, &reportedEnd)
                try await send(to: utterance.speech.end, speechDetected: true, &reportedEnd)
            }
        }
    }

    private func send(to end: SamplePosition, speechDetected: Bool, _ reportedEnd: inout SamplePosition) async throws {
        guard end > reportedEnd else { return }
        let range = AudioTimeRange(SampleRange(reportedEnd, end))
        reportedEnd = end
        try await results?.send(
            SpeechDetector.Result(range: range, resultsFinalizationTime: range.end, speechDetected: speechDetected)
        ) { !$0.isFinal }
    }

    func finish(throwing error: SFSpeechError?) { detector.results.queue.finish(throwing: error) }

    func cancel() {
        detector.results.queue.cancel()
        input.queue.cancel()
    }
}
