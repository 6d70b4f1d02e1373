import Core

/// A kind of analysis for ``SpeechAnalyzer``: ``SpeechTranscriber`` or ``SpeechDetector``.
///
/// Each module can be used only once, by one analyzer. Other types cannot be analyzer modules.
public protocol SpeechModule: AnyObject, Sendable {
    /// The type of the module's results.
    associatedtype Result: SpeechModuleResult

    /// The module's results, in chronological order.
    var results: SpeechResults<Result> { get }
}

/// A result from a module.
public protocol SpeechModuleResult: Sendable {
    /// The range of audio that the result describes.
    var range: AudioTimeRange { get }

    /// The end of the audio whose results are final.
    var resultsFinalizationTime: AudioTime { get }
}

extension SpeechModuleResult {
    /// Whether the result is final. Otherwise, a later result for the same range replaces it.
    public var isFinal: Bool { resultsFinalizationTime >= range.end }
}

/// A module that an analyzer can run.
protocol AnalyzableModule: SpeechModule {
    /// Creates the module's branch of the analysis.
    ///
    /// - Throws: ``SFSpeechError`` if the module was already used.
    func makeBranch(_ request: BranchRequest) throws -> any AnalysisBranch
}

/// The settings that an analyzer passes to its modules.
struct BranchRequest: Sendable {
    var options: SpeechAnalyzer.Options
    var context: AnalysisContext
    var sensitivity: SpeechDetector.SensitivityLevel
}

/// One module's analysis of the audio.
protocol AnalysisBranch: Sendable {
    var input: AudioInput { get }

    /// Loads the models, calls `prepared`, and analyzes the input to its end.
    ///
    /// - Parameter settled: Called with the position before which all results are final.
    func run(
        prepared: @escaping @Sendable () -> Void, settled: @escaping @Sendable (SamplePosition) -> Void
    ) async throws

    /// Ends the result sequence. Unread results can still be read.
    func finish(throwing error: SFSpeechError?)

    /// Ends the result sequence and drops unread results.
    func cancel()
}
