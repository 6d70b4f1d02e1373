import Foundation
import Synchronization

/// Whether a program may recognize speech.
public enum SFSpeechRecognizerAuthorizationStatus: Int, Hashable, Sendable {
    /// Never reported.
    case notDetermined
    /// Never reported.
    case denied
    /// Never reported.
    case restricted
    /// Always reported: no permission is needed.
    case authorized
}

/// Receives changes in a recognizer's availability.
public protocol SFSpeechRecognizerDelegate: AnyObject, Sendable {
    /// The availability has changed. The recognizer checks it only when a task starts.
    func speechRecognizer(_ speechRecognizer: SFSpeechRecognizer, availabilityDidChange available: Bool)
}

/// Recognizes speech. This class has the original interface of Apple's framework.
///
/// New programs should use ``SpeechAnalyzer``, on which this class is based. Recognition happens on this machine: there
/// is no server, no permission prompt, and no one-minute limit. Each result contains all text so far, so use
/// ``SpeechAnalyzer`` for recordings of several hours.
public final class SFSpeechRecognizer: Sendable {
    private struct State {
        weak var delegate: (any SFSpeechRecognizerDelegate)?
        var queue = OperationQueue.main
        var hint = SFSpeechRecognitionTaskHint.unspecified
        var wasAvailable: Bool
    }

    /// The language.
    public let locale: Locale
    private let options: SpeechAnalyzer.Options
    private let state: Mutex<State>

    /// Creates a recognizer for the user's language. Returns nil if no model for that language is installed.
    public convenience init?() { self.init(locale: Locale.current) }

    /// Creates a recognizer. Returns nil if no model for the locale's language is installed.
    ///
    /// - Parameters:
    ///   - locale: The language.
    ///   - options: Which engine to use, and where to run it. Apple's class has no such options.
    public init?(locale: Locale, options: SpeechAnalyzer.Options = SpeechAnalyzer.Options()) {
        guard EngineSelection(options).hasModel(for: locale) else { return nil }
        self.locale = locale
        self.options = options
        state = Mutex(State(wasAvailable: true))
    }

    /// Returns the locales of installed models.
    public static func supportedLocales() -> Set<Locale> { Set(SpeechTranscriber.installedLocales) }

    /// Returns `authorized`.
    public static func authorizationStatus() -> SFSpeechRecognizerAuthorizationStatus { .authorized }

    /// Calls the handler with `authorized`, in a task.
    public static func requestAuthorization(
        _ handler: @escaping @Sendable (SFSpeechRecognizerAuthorizationStatus) -> Void
    ) { Task { handler(.authorized) } }

    /// Whether a complete model for the locale is installed.
    public var isAvailable: Bool { EngineSelection(options).canRecognize(locale) }

    /// Always true.
    public var supportsOnDeviceRecognition: Bool {
        get { true }
        // swift-format-ignore: UseSingleLinePropertyGetter
        set {}
    }

    /// The hint for requests that have none.
    public var defaultTaskHint: SFSpeechRecognitionTaskHint {
        get { state.withLock { $0.hint } }
        set { state.withLock { $0.hint = newValue } }
    }

    /// The queue on which handlers and delegates are called; by default the main queue. The main queue runs only in a
    /// program that calls `RunLoop.main.run()` or `dispatchMain()`, or has an asynchronous `main`.
    public var queue: OperationQueue {
        get { state.withLock { $0.queue } }
        set { state.withLock { $0.queue = newValue } }
    }

    /// The delegate, which is notified when the recognizer becomes available or unavailable.
    public var delegate: (any SFSpeechRecognizerDelegate)? {
        get { state.withLock { $0.delegate } }
        set { state.withLock { $0.delegate = newValue } }
    }

    /// Starts to recognize a request.
    ///
    /// - Parameters:
    ///   - request: The audio to recognize. The request's settings are read now; later changes have no effect.
    ///   - resultHandler: Receives partial results, and then the final result or an error. It is called on `queue`, in
    ///     order, and never after the final result or the error.
    @discardableResult
    public func recognitionTask(
        with request: SFSpeechRecognitionRequest,
        resultHandler: @escaping @Sendable (SFSpeechRecognitionResult?, (any Error)?) -> Void
    ) -> SFSpeechRecognitionTask {
        start(request) { _, event in
            switch event {
            case .result(let result): resultHandler(result, nil)
            case .failed(let error): resultHandler(nil, error)
            case .speech, .audioEnded, .processed, .succeeded: break
            }
        }
    }

    /// Starts to recognize a request.
    ///
    /// - Parameters:
    ///   - request: The audio to recognize. The request's settings are read now; later changes have no effect.
    ///   - delegate: Receives the task's progress, on `queue`, in order. It is retained until the task ends.
    @discardableResult
    public func recognitionTask(
        with request: SFSpeechRecognitionRequest, delegate: any SFSpeechRecognitionTaskDelegate
    ) -> SFSpeechRecognitionTask {
        start(request) { task, event in
            switch event {
            case .speech: delegate.speechRecognitionDidDetectSpeech(task)
            case .result(let result) where result.isFinal:
                delegate.speechRecognitionTask(task, didFinishRecognition: result)
            case .result(let result):
                delegate.speechRecognitionTask(task, didHypothesizeTranscription: result.bestTranscription)
            case .audioEnded: delegate.speechRecognitionTaskFinishedReadingAudio(task)
            case .processed(let seconds): delegate.speechRecognitionTask(task, didProcessAudioDuration: seconds)
            case .succeeded: delegate.speechRecognitionTask(task, didFinishSuccessfully: true)
            case .failed(let error):
                if error.code == .canceled { delegate.speechRecognitionTaskWasCancelled(task) }
                delegate.speechRecognitionTask(task, didFinishSuccessfully: false)
            }
        }
    }

    private func start(
        _ request: SFSpeechRecognitionRequest,
        _ handler: @escaping @Sendable (SFSpeechRecognitionTask, RecognitionDriver.Event) -> Void
    ) -> SFSpeechRecognitionTask {
        let task = SFSpeechRecognitionTask()
        let (queue, hint) = state.withLock { ($0.queue, $0.hint) }
        let calls = CallQueue(queue)
        let driver = RecognitionDriver(
            locale: locale, options: options, request: request, hint: hint, task: task
        ) { event in calls.add { handler(task, event) } }
        updateAvailability(on: calls)
        driver.start(request)
        return task
    }

    /// Notifies the delegate if the availability has changed.
    private func updateAvailability(on calls: CallQueue) {
        let isAvailable = isAvailable
        let delegate = state.withLock { state in
            defer { state.wasAvailable = isAvailable }
            return state.wasAvailable == isAvailable ? nil : state.delegate
        }
        if let delegate { calls.add { delegate.speechRecognizer(self, availabilityDidChange: isAvailable) } }
    }
}

/// Calls functions on an operation queue in order, even if the queue is concurrent.
private final class CallQueue: Sendable {
    private struct State {
        var calls: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let queue: OperationQueue
    private let state = Mutex(State())

    init(_ queue: OperationQueue) { self.queue = queue }

    func add(_ call: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.calls.append(call)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst { queue.addOperation { self.run() } }
    }

    private func run() {
        while let call = next() { call() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            if state.calls.isEmpty {
                state.isRunning = false
                return nil
            }
            return state.calls.removeFirst()
        }
    }
}
