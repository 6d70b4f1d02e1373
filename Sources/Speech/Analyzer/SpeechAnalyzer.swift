import FoundationEssentials

/// Analyzes audio with modules: a ``SpeechTranscriber``, a ``SpeechDetector``, or both.
///
/// The audio comes from files, or from sequences of ``AnalyzerInput`` such as ``Microphone``. It can be of any length,
/// because memory use is bounded. You can analyze several inputs one after another; the times of each input continue
/// those of the previous one. After the analysis has finished, create another analyzer. Releasing an analyzer cancels
/// its analysis. Analyzers are independent of each other.
public actor SpeechAnalyzer {
    /// Which engine to use, and where to run it.
    public struct Options: Sendable {
        /// An engine.
        public enum Engine: String, Hashable, Sendable, CaseIterable {
            /// Moonshine if it is installed and the machine has enough memory, otherwise PocketSphinx.
            case automatic
            /// A neural network that writes capitals and punctuation.
            case moonshine
            /// Hidden Markov models, for the smallest boards and for grammars.
            case pocketSphinx
        }

        /// Where the engine runs.
        public enum Isolation: Hashable, Sendable {
            /// On a thread in this process. If the engine's library crashes, so does this process.
            case inProcess
            /// In a separate process, which is restarted if it crashes.
            ///
            /// The helper is the program `fieldscribe`, or a program that accepts the same `decode-worker` command.
            case process(helper: URL)
        }

        /// The engine.
        public var engine: Engine
        /// Where the engine runs.
        public var isolation: Isolation
        /// Model folders, searched before the folders in which packages and ``AssetInventory`` install models.
        public var modelFolders: [URL]
        /// The priority of the analyzer's tasks; nil for that of the task that starts the analysis. The engine's thread
        /// is not affected.
        public var priority: TaskPriority?

        /// Creates options.
        public init(
            engine: Engine = .automatic, isolation: Isolation = .inProcess, modelFolders: [URL] = [],
            priority: TaskPriority? = nil
        ) {
            self.engine = engine
            self.isolation = isolation
            self.modelFolders = modelFolders
            self.priority = priority
        }
    }

    /// The modules.
    public nonisolated let modules: [any SpeechModule]
    private let analysis: Analysis

    /// Creates an analyzer.
    ///
    /// - Parameters:
    ///   - modules: The kinds of analysis. Each module can be used by only one analyzer.
    ///   - options: Which engine to use, and where to run it.
    public init(modules: [any SpeechModule], options: Options = Options()) {
        self.modules = modules
        analysis = Analysis(modules: modules, options: options)
    }

    deinit { analysis.cancel() }

    /// Loads the models, so that the first result arrives sooner. Otherwise, the first input loads them.
    ///
    /// - Throws: ``SFSpeechError``, with `noModel` or `cannotLoadModel` if a model is missing or damaged.
    public func prepareToAnalyze(in format: AudioBuffer.Format? = nil) async throws { try await analysis.prepare() }

    /// Starts to analyze a sequence and returns immediately. ``finalizeAndFinishThroughEndOfInput()`` waits for its
    /// end.
    ///
    /// - Throws: ``SFSpeechError`` with `invalidState` if another input is being analyzed or the analysis has finished.
    public func start<InputSequence: AsyncSequence & Sendable>(inputSequence: InputSequence) async throws
    where InputSequence.Element == AnalyzerInput { try analysis.start(inputSequence) }

    /// Starts to analyze a file and returns immediately.
    ///
    /// - Parameters:
    ///   - inputAudioFile: A file of any length.
    ///   - finishAfterFile: Whether the analysis finishes at the end of the file.
    /// - Throws: ``SFSpeechError`` with `invalidState` if another input is being analyzed or the analysis has finished.
    public func start(inputAudioFile: AudioFile, finishAfterFile: Bool = false) async throws {
        try analysis.start(inputAudioFile, finishes: finishAfterFile)
    }

    /// Analyzes a sequence and returns when all of it has been passed to the modules.
    ///
    /// - Returns: The end of the audio; nil if there was none.
    /// - Throws: ``SFSpeechError``, also if the sequence throws another error. Results for the audio before the error
    ///   are still reported.
    @discardableResult
    public func analyzeSequence<InputSequence: AsyncSequence & Sendable>(
        _ inputSequence: InputSequence
    ) async throws -> AudioTime? where InputSequence.Element == AnalyzerInput {
        try await analysis.analyze(inputSequence)
    }

    /// Analyzes a file of any length and returns when all of it has been passed to the modules.
    ///
    /// - Returns: The end of the audio; nil if there was none.
    /// - Throws: ``SFSpeechError``, with `audioReadFailed` if the file cannot be read.
    @discardableResult
    public func analyzeSequence(from file: AudioFile) async throws -> AudioTime? { try await analyzeSequence(file) }

    /// Analyzes a file of any length and returns when all of it has been passed to the modules.
    ///
    /// - Returns: The end of the audio; nil if there was none.
    /// - Throws: ``SFSpeechError``, with `audioReadFailed` if the file cannot be read.
    @discardableResult
    public func analyzeSequence(from url: URL) async throws -> AudioTime? {
        try await analyzeSequence(AudioFile(url: url))
    }

    /// Makes the results for the audio so far final: ends the current utterance and waits for its text.
    ///
    /// - Parameter time: The time up to which results must be final. If they already are, the method returns
    ///   immediately. Nil for all audio so far.
    /// - Throws: ``SFSpeechError`` if the analysis failed or was cancelled.
    public func finalize(through time: AudioTime? = nil) async throws { try await analysis.finalize(through: time) }

    /// Waits for the end of the current input, makes all results final, and finishes.
    ///
    /// - Throws: ``SFSpeechError`` if the analysis or its input failed. Cancelling the task also cancels the analysis.
    public func finalizeAndFinishThroughEndOfInput() async throws { try await analysis.finish() }

    /// Finishes immediately. Unread results are dropped, the modules' sequences end, and the handler for the volatile
    /// range is not called again. The engine's thread ends after its current step, which may take Moonshine several
    /// seconds.
    public func cancelAndFinishNow() async {
        analysis.cancel()
        analysis.setHandler(nil)
    }

    /// The range of audio whose results are not final yet; nil before the first audio.
    public var volatileRange: AudioTimeRange? { analysis.volatileRange }

    /// Sets a function that is called when ``volatileRange`` changes.
    ///
    /// - Parameter handler: A function that receives the range, and whether its start and end have changed. Calls do
    ///   not overlap, and the analysis waits for each of them.
    public func setVolatileRangeChangedHandler(
        _ handler: (@Sendable (_ range: AudioTimeRange, _ changedStart: Bool, _ changedEnd: Bool) -> Void)?
    ) { analysis.setHandler(handler) }

    /// Prior knowledge about the speech.
    public var context: AnalysisContext { analysis.context }

    /// Sets prior knowledge about the speech.
    ///
    /// - Throws: ``SFSpeechError`` with `invalidState` if the analysis has started.
    public func setContext(_ context: AnalysisContext) async throws { try analysis.setContext(context) }

    /// Returns the format that needs no conversion: 16 kHz, one channel, 16-bit. All other formats are also accepted.
    public static func bestAvailableAudioFormat(compatibleWith modules: [any SpeechModule]) async -> AudioBuffer.Format?
    { .native }
}
