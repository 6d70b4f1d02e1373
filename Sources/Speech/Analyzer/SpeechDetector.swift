import Core
import System

/// Detects speech by its loudness above the background.
///
/// A transcriber in the same analyzer uses the detector's sensitivity. Transcription needs no detector, because it
/// skips silence anyway.
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
        /// The section's range. While speech continues, its end is the latest position at which it is known to
        /// continue.
        public let range: AudioTimeRange
        /// The end of the audio whose results are final.
        public let resultsFinalizationTime: AudioTime
        /// Whether somebody speaks.
        public let speechDetected: Bool
    }

    /// How easily sound counts as speech.
    public let sensitivityLevel: SensitivityLevel
    /// The sections, in chronological order. There are no gaps between final sections, except for missing audio.
    public let results: SpeechResults<Result>

    fileprivate let reportsResults: Bool
    private let used = StopFlag()

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
    func branch(_ request: BranchRequest) throws -> any AnalysisBranch {
        guard used.raise() else {
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
        var reported = SamplePosition.zero
        while let chunk = try await input.next() {
            var effects: [Segmenter.Effect] = []
            switch chunk {
            case .samples(let samples):
                position = position + Int64(samples.count)
                samples.withUnsafeBufferPointer { samples in
                    levels.append(samples) { effects += segmenter.handle(level: $0) }
                }
                try await report(effects, &reported)
            case .gap(let gap):
                levels.restart()
                try await report(segmenter.handle(gap: gap.range), &reported)
                try await send(to: gap.range.start, speechDetected: false, &reported)
                position = gap.range.end
                reported = position
            }
            settled(segmenter.settledWatermark)
        }
        try await report(segmenter.finish(at: position), &reported)
        try await send(to: position, speechDetected: false, &reported)
        settled(position)
    }

    private func report(_ effects: [Segmenter.Effect], _ reported: inout SamplePosition) async throws {
        for effect in effects {
            switch effect {
            case .began(_, let start):
                results?.sendNow(
                    SpeechDetector.Result(
                        range: AudioTimeRange(
                            SampleRange(start, start + Int64(SpeechSettings().startMilliseconds * 16))),
                        resultsFinalizationTime: AudioTime(min(reported, start)), speechDetected: true)
                ) { !$0.isFinal }
            case .ended(let utterance):
                try await send(to: utterance.speech.start, speechDetected: false, &reported)
                try await send(to: utterance.speech.end, speechDetected: true, &reported)
            }
        }
    }

    private func send(to end: SamplePosition, speechDetected: Bool, _ reported: inout SamplePosition) async throws {
        guard end > reported else { return }
        let range = AudioTimeRange(SampleRange(reported, end))
        reported = end
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
