import FoundationEssentials

/// Analyzes audio with modules: a ``SpeechTranscriber``, a ``SpeechDetector``, or both. Audio of any length is analyzed
/// in bounded memory. It comes from a file, or from a sequence of ``AnalyzerInput``, such as ``Microphone``. Several
/// inputs may follow each other; times continue. Once the analysis has finished, create another analyzer. Releasing an
/// analyzer ends its analysis. Analyzers are independent.
public actor SpeechAnalyzer {
    /// Which engine to use, and where to run it.
    public struct Options: Sendable {
        /// An engine.
        public enum Engine: String, Hashable, Sendable, CaseIterable {
            /// Moonshine if its model and ONNX Runtime are installed, else PocketSphinx.
            case automatic
            /// A network with capitals and punctuation.
            case moonshine
            /// Hidden Markov models, for the smallest boards and for grammars.
            case pocketSphinx
        }

        /// Where the engine runs.
        public enum Isolation: Hashable, Sendable {
            /// On a thread of this process. An engine's library that crashes ends this process.
            case inProcess
            /// In a separate process, which is restarted if it crashes.
            ///
            /// The helper is the program `fieldscribe`, or one that accepts the same `decode-worker` command.
            case process(helper: URL)
        }

        /// The engine.
        public var engine: Engine
        /// Where it runs.
        public var isolation: Isolation
        /// Folders of models, searched before those where packages and ``AssetInventory`` install them.
        public var modelFolders: [URL]
        /// The priority of the tasks; nil for that of the creator. The engine's thread is not affected.
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

    /// - Parameters:
    ///   - modules: the kinds of analysis; each instance can be used by only one analyzer.
    ///   - options: which engine to use, and where to run it.
    public init(modules: [any SpeechModule], options: Options = Options()) {
        self.modules = modules
        analysis = Analysis(modules: modules, options: options)
    }

    deinit { analysis.cancel() }

    /// Loads the models, so that the first result comes sooner. Otherwise the first input loads them.
    ///
    /// - Throws: ``SFSpeechError``: `noModel` or `cannotLoadModel`.
    public func prepareToAnalyze(in format: AudioBuffer.Format? = nil) async throws { try await analysis.prepare() }

    /// Starts to analyze a sequence, and returns at once. ``finalizeAndFinishThroughEndOfInput()`` waits for its end.
    ///
    /// - Throws: ``SFSpeechError`` with `invalidState` while another input is analyzed, or after the analysis has finished.
    public func start<InputSequence: AsyncSequence & Sendable>(inputSequence: InputSequence) async throws
    where InputSequence.Element == AnalyzerInput { try analysis.start(inputSequence) }

    /// Starts to analyze a file, and returns at once.
    ///
    /// - Parameters:
    ///   - inputAudioFile: a file of any length.
    ///   - finishAfterFile: whether the analysis finishes at the end of the file.
    /// - Throws: ``SFSpeechError`` with `invalidState`.
    public func start(inputAudioFile: AudioFile, finishAfterFile: Bool = false) async throws {
        try analysis.start(inputAudioFile, finishes: finishAfterFile)
    }

    /// Analyzes a sequence, and returns when it has been handed to the modules.
    ///
    /// - Returns: the end of its last sample; nil if nothing has been analyzed.
    /// - Throws: ``SFSpeechError``, or the sequence's error. Results of the audio before it are still reported.
    @discardableResult
    public func analyzeSequence<InputSequence: AsyncSequence & Sendable>(
        _ inputSequence: InputSequence
    ) async throws -> AudioTime? where InputSequence.Element == AnalyzerInput {
        try await analysis.analyze(inputSequence)
    }

    /// Analyzes a file of any length, and returns when it has been handed to the modules.
    ///
    /// - Returns: the end of its last sample; nil if nothing has been analyzed.
    /// - Throws: ``SFSpeechError``: `audioReadFailed` for the file.
    @discardableResult
    public func analyzeSequence(from file: AudioFile) async throws -> AudioTime? { try await analyzeSequence(file) }

    /// Analyzes a file of any length, and returns when it has been handed to the modules.
    ///
    /// - Returns: the end of its last sample; nil if nothing has been analyzed.
    /// - Throws: ``SFSpeechError``: `audioReadFailed` for the file.
    @discardableResult
    public func analyzeSequence(from url: URL) async throws -> AudioTime? {
        try await analyzeSequence(AudioFile(url: url))
    }

    /// Makes the results of the audio so far final: ends the current utterance, and waits for its text.
    ///
    /// - Parameter time: returns at once if results up to this time are final already; nil for all audio so far.
    /// - Throws: ``SFSpeechError``.
    public func finalize(through time: AudioTime? = nil) async throws { try await analysis.finalize(through: time) }

    /// Waits for the end of the current input, makes all results final, and finishes.
    ///
    /// - Throws: ``SFSpeechError`` if the analysis or its input failed. If the task is cancelled, so is the analysis.
    public func finalizeAndFinishThroughEndOfInput() async throws { try await analysis.finish() }

    /// Finishes at once. Results that nobody has read are dropped, the modules' sequences end, and the handler of the
    /// volatile range is not called again. The engine's thread ends after its current step, which may take Moonshine
    /// several seconds.
    public func cancelAndFinishNow() async {
        analysis.cancel()
        analysis.setHandler(nil)
    }

    /// The audio whose results are not final yet; nil before any audio.
    public var volatileRange: AudioTimeRange? { analysis.volatileRange }

    /// Sets a function that is called when ``volatileRange`` changes.
    ///
    /// - Parameter handler: gets the range, and whether its start and its end have changed. It is called by one task at a time and
    ///   delays the analysis.
    public func setVolatileRangeChangedHandler(
        _ handler: (@Sendable (_ range: AudioTimeRange, _ changedStart: Bool, _ changedEnd: Bool) -> Void)?
    ) { analysis.setHandler(handler) }

    /// What is known about the speech.
    public var context: AnalysisContext { analysis.context }

    /// Sets what is known about the speech.
    ///
    /// - Throws: ``SFSpeechError`` with `invalidState` after the models were loaded.
    public func setContext(_ context: AnalysisContext) async throws { try analysis.setContext(context) }

    /// The format of buffers that are not converted: 16 kHz, one channel, 16-bit. All others are accepted, too.
    public static func bestAvailableAudioFormat(compatibleWith modules: [any SpeechModule]) async -> AudioBuffer.Format?
    { .native }
}
