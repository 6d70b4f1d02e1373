import Core
import FoundationEssentials
import System

/// Transcribes speech.
///
/// Create a transcriber for a locale, pass it to a ``SpeechAnalyzer``, and iterate over ``results``:
///
///     let transcriber = SpeechTranscriber(locale: Locale(identifier: "en-US"), preset: .transcription)
///     let analyzer = SpeechAnalyzer(modules: [transcriber])
///     async let text = transcriber.results.reduce(into: "") { $0 += String($1.text.characters) + "\n" }
///     try await analyzer.analyzeSequence(from: url)
///     try await analyzer.finalizeAndFinishThroughEndOfInput()
///     print(try await text)
public final class SpeechTranscriber: SpeechModule {
    /// A kind of result to report.
    public enum ReportingOption: Hashable, Sendable, CaseIterable {
        /// Text of ongoing speech, which final text replaces. Reporting it requires a second recognizer.
        case volatileResults
        /// Alternative transcriptions of each result.
        case alternativeTranscriptions
    }

    /// An attribute of the text.
    public enum ResultAttributeOption: Hashable, Sendable, CaseIterable {
        /// The range of each word.
        case audioTimeRange
        /// The confidence of each word.
        case transcriptionConfidence
    }

    /// A combination of options.
    public struct Preset: Hashable, Sendable {
        /// The kinds of results to report.
        public var reportingOptions: Set<ReportingOption>
        /// The attributes of the text.
        public var attributeOptions: Set<ResultAttributeOption>

        /// Creates a preset.
        public init(
            reportingOptions: Set<ReportingOption> = [], attributeOptions: Set<ResultAttributeOption> = []
        ) {
            self.reportingOptions = reportingOptions
            self.attributeOptions = attributeOptions
        }

        /// Final results, for recordings.
        public static let transcription = Preset()
        /// The same as ``transcription``.
        public static let offlineTranscription = transcription
        /// Final results with alternatives.
        public static let transcriptionWithAlternatives = Preset(reportingOptions: [.alternativeTranscriptions])
        /// Final results with alternatives, and with word ranges and confidences as attributes.
        public static let timeIndexedTranscriptionWithAlternatives = Preset(
            reportingOptions: [.alternativeTranscriptions],
            attributeOptions: [.audioTimeRange, .transcriptionConfidence])
        /// Volatile and final results, for live speech.
        public static let progressiveTranscription = Preset(reportingOptions: [.volatileResults])
        /// Volatile and final results; final results have word ranges as attributes.
        public static let timeIndexedProgressiveTranscription = Preset(
            reportingOptions: [.volatileResults], attributeOptions: [.audioTimeRange])
    }

    /// The language of the speech.
    public let locale: Locale
    /// The options.
    public let preset: Preset
    /// The results, in chronological order. Final results do not overlap.
    public let results: SpeechResults<Result>

    let hint: TaskHint
    private let wasUsed = StopFlag()

    /// The maximum number of final results that are queued for a slow consumer.
    static let maxPending = 1_000

    /// Creates a transcriber with a preset.
    ///
    /// - Parameters:
    ///   - locale: The language of the speech. `AssetInventory.status(forModules:)` returns whether a model for it is
    ///     installed.
    ///   - preset: The options.
    public convenience init(locale: Locale, preset: Preset) {
        self.init(locale: locale, preset: preset, hint: .dictation)
    }

    /// Creates a transcriber with individual options.
    ///
    /// - Parameters:
    ///   - locale: The language of the speech.
    ///   - reportingOptions: The kinds of results to report.
    ///   - attributeOptions: The attributes of the text.
    public convenience init(
        locale: Locale, reportingOptions: Set<ReportingOption>, attributeOptions: Set<ResultAttributeOption>
    ) {
        self.init(
            locale: locale, preset: Preset(reportingOptions: reportingOptions, attributeOptions: attributeOptions))
    }

    init(locale: Locale, preset: Preset, hint: TaskHint, maxPending: Int = maxPending) {
        self.locale = locale
        self.preset = preset
        self.hint = hint
        results = SpeechResults(queue: AsyncQueue(capacity: maxPending))
    }

    /// Whether a model is installed.
    public static var isAvailable: Bool { !EngineSelection().models.isEmpty }

    /// The locales of installed models.
    public static var installedLocales: [Locale] { EngineSelection().locales }

    /// The same as ``installedLocales``, because there is no server that supports other locales.
    public static var supportedLocales: [Locale] { installedLocales }

    /// Returns the installed locale whose model can transcribe speech in the given locale; nil if there is none.
    public static func supportedLocale(equivalentTo locale: Locale) -> Locale? { EngineSelection().locale(for: locale) }

    /// The text of a range of audio.
    public struct Result: SpeechModuleResult, Hashable, Sendable {
        /// A recognized word.
        public struct Word: Hashable, Sendable {
            /// The word as the engine writes it, with its punctuation.
            public let text: String
            /// The word's range in the audio.
            public let range: AudioTimeRange
            /// The probability, from 0 to 1, that the word is correct.
            public let confidence: Double
            /// Whether the range is an estimate, because the word could not be aligned with the audio.
            public let isTimeEstimated: Bool
        }

        /// The range of the transcribed audio.
        public let range: AudioTimeRange
        /// The end of the audio whose text is final.
        public let resultsFinalizationTime: AudioTime
        /// The text, with the requested attributes. Empty if the result only revokes a volatile result.
        public let text: AttributedString
        /// The transcriptions, best first, beginning with `text`. Empty unless alternatives were requested.
        public let alternatives: [AttributedString]
        /// The words with times and confidences; empty in volatile results.
        public let words: [Word]

        /// The mean confidence of the words from 0 to 1; 0 in volatile results.
        public var confidence: Double {
            words.isEmpty ? 0 : words.reduce(0) { $0 + $1.confidence } / Double(words.count)
        }

        /// The segment from which the result was made; nil in volatile results.
        let segment: Segment?
    }
}

extension SpeechTranscriber: AnalyzableModule {
    func makeBranch(_ request: BranchRequest) throws -> any AnalysisBranch {
        guard wasUsed.raise() else {
            throw SFSpeechError(.invalidState, "this SpeechTranscriber was already used; create another one")
        }
        return TranscriptionBranch(self, request)
    }
}

extension SpeechTranscriber.Result {
    /// Creates a final result.
    init(_ segment: Segment, _ preset: SpeechTranscriber.Preset) {
        range = AudioTimeRange(segment.range)
        resultsFinalizationTime = range.end
        words = segment.words.map {
            Word(
                text: $0.text, range: AudioTimeRange($0.range), confidence: $0.confidence,
                isTimeEstimated: $0.hasEstimatedTime)
        }
        text = Self.text(words, preset.attributeOptions)
        alternatives =
            preset.reportingOptions.contains(.alternativeTranscriptions)
            ? [text] + segment.alternatives.map { AttributedString($0.text) } : []
        self.segment = segment
    }

    init(volatile text: String, range: AudioTimeRange, finalizedThrough: AudioTime) {
        self.range = range
        // At most the range's start, so that the result is not final.
        resultsFinalizationTime = min(finalizedThrough, range.start)
        self.text = AttributedString(text)
        (alternatives, words, segment) = ([], [], nil)
    }

    private static func text(
        _ words: [Word], _ options: Set<SpeechTranscriber.ResultAttributeOption>
    ) -> AttributedString {
        guard !options.isEmpty else { return AttributedString(words.map(\.text).joined(separator: " ")) }
        var text = AttributedString()
        for word in words {
            if !text.characters.isEmpty { text += AttributedString(" ") }
            var wordText = AttributedString(word.text)
            if options.contains(.audioTimeRange) {
                wordText[AttributeScopes.SpeechAttributes.TimeRangeAttribute.self] = word.range
            }
            if options.contains(.transcriptionConfidence) {
                wordText[AttributeScopes.SpeechAttributes.ConfidenceAttribute.self] = word.confidence
            }
            text += wordText
        }
        return text
    }
}
