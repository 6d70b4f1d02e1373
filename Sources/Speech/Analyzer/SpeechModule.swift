import Core

/// A kind of analysis, for ``SpeechAnalyzer``: ``SpeechTranscriber`` or ``SpeechDetector``.
///
/// A module is used by one analyzer, once. Other types cannot be analyzer modules.
public protocol SpeechModule: AnyObject, Sendable {
    /// The kind of its results.
    associatedtype Result: SpeechModuleResult

    /// Its results, in chronological order.
    var results: SpeechResults<Result> { get }
}

/// A result of a module.
public protocol SpeechModuleResult: Sendable {
    /// The audio that it describes.
    var range: AudioTimeRange { get }

    /// The end of the audio whose results are final.
    var resultsFinalizationTime: AudioTime { get }
}

extension SpeechModuleResult {
    /// Whether it will not change. A result that is not final is replaced by a later one for the same range.
    public var isFinal: Bool { resultsFinalizationTime >= range.end }
}

/// A module as the analyzer uses it.
protocol AnalyzableModule: SpeechModule {
    /// Returns the analysis of one analyzer.
    ///
    /// - Throws: ``SFSpeechError`` if the module was used before.
    func branch(_ request: BranchRequest) throws -> any AnalysisBranch
}

/// What an analyzer passes to its modules.
struct BranchRequest: Sendable {
    var options: SpeechAnalyzer.Options
    var context: AnalysisContext
    var sensitivity: SpeechDetector.SensitivityLevel
}

/// One module's analysis of the audio.
protocol AnalysisBranch: Sendable {
    var input: AudioInput { get }

    /// Loads what it needs, calls `prepared`, and analyzes the input to its end.
    ///
    /// - Parameter settled: gets the position before which everything is final.
    func run(
        prepared: @escaping @Sendable () -> Void, settled: @escaping @Sendable (SamplePosition) -> Void
    ) async throws

    /// Ends the results, which keep those that nobody has read yet.
    func finish(throwing error: SFSpeechError?)

    /// Ends the results and drops those that nobody has read yet.
    func cancel()
}
