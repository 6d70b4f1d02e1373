import FoundationEssentials
import Synchronization

/// A recognition request: an ``SFSpeechURLRecognitionRequest`` or ``SFSpeechAudioBufferRecognitionRequest``.
public class SFSpeechRecognitionRequest: @unchecked Sendable {
    // Safety: this lock protects all mutable state; subclasses add only constants.
    private let settings = Mutex(Settings())

    struct Settings: Sendable {
        var reportsPartialResults = true
        var requiresOnDevice = false
        var contextualStrings: [String] = []
        var hint: TaskHint?
        var addsPunctuation = false
        var languageModel: SFSpeechLanguageModel.Configuration?
    }

    fileprivate init() {}

    var currentSettings: Settings { settings.withLock { $0 } }

    private subscript<Value: Sendable>(path: WritableKeyPath<Settings, Value> & Sendable) -> Value {
        get { settings.withLock { $0[keyPath: path] } }
        set { settings.withLock { $0[keyPath: path] = newValue } }
    }

    /// Whether to report partial results during speech; true by default. They require a second recognizer.
    public var shouldReportPartialResults: Bool {
        get { self[\.reportsPartialResults] }
        set { self[\.reportsPartialResults] = newValue }
    }

    /// Has no effect, because audio never leaves the device.
    public var requiresOnDeviceRecognition: Bool {
        get { self[\.requiresOnDevice] }
        set { self[\.requiresOnDevice] = newValue }
    }

    /// Words and phrases to prefer; see ``AnalysisContext/contextualStrings``.
    public var contextualStrings: [String] {
        get { self[\.contextualStrings] }
        set { self[\.contextualStrings] = newValue }
    }

    /// The kind of speech to expect; by default the recognizer's `defaultTaskHint`.
    public var taskHint: SFSpeechRecognitionTaskHint {
        get { self[\.hint] ?? .unspecified }
        set { self[\.hint] = newValue }
    }

    /// Has no effect: Moonshine always writes capitals and punctuation, and PocketSphinx never does.
    public var addsPunctuation: Bool {
        get { self[\.addsPunctuation] }
        set { self[\.addsPunctuation] = newValue }
    }

    /// A prepared language model; see ``SFSpeechLanguageModel``.
    public var customizedLanguageModel: SFSpeechLanguageModel.Configuration? {
        get { self[\.languageModel] }
        set { self[\.languageModel] = newValue }
    }
}

/// A request to recognize an audio file of any length.
public final class SFSpeechURLRecognitionRequest: SFSpeechRecognitionRequest, @unchecked Sendable {
    /// The file's URL.
    public let url: URL

    /// Creates a request.
    ///
    /// - Parameter url: A file that libsndfile or, if it is installed, ffmpeg can read.
    public init(url: URL) {
        self.url = url
        super.init()
    }
}

/// A request to recognize buffers, such as those from a microphone. The queue of appended buffers has no limit. Call
/// ``endAudio()`` after the last buffer; releasing the request has the same effect.
public final class SFSpeechAudioBufferRecognitionRequest: SFSpeechRecognitionRequest, @unchecked Sendable {
    let inputs = AsyncQueue<AnalyzerInput>(capacity: .max)

    /// Creates a request without audio.
    public override init() { super.init() }

    deinit { inputs.finish() }

    /// The format that needs no conversion. All other formats are also accepted.
    public var nativeAudioFormat: AudioBuffer.Format { .native }

    /// Appends a buffer. Does nothing after ``endAudio()``.
    public func append(_ buffer: AudioBuffer) { inputs.sendNow(AnalyzerInput(buffer: buffer)) }

    /// Ends the audio. The results for the appended audio are still reported.
    public func endAudio() { inputs.finish() }
}
