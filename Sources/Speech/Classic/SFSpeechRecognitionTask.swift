import FoundationEssentials
import Synchronization

/// The state of a task.
public enum SFSpeechRecognitionTaskState: Int, Hashable, Sendable {
    /// The model is being loaded.
    case starting
    /// Audio is being recognized.
    case running
    /// The audio has ended; more results may follow.
    case finishing
    /// The task was cancelled; no more results follow.
    case canceling
    /// The task has ended.
    case completed
}

/// A recognition task. It continues even if this object is released.
public final class SFSpeechRecognitionTask: Sendable {
    private struct State {
        var state = SFSpeechRecognitionTaskState.starting
        var isCancelled = false
        var isFinishing = false
        var error: SFSpeechError?
        var work: Task<Void, Never>?
        /// Ends the audio.
        var finish: (@Sendable () -> Void)?
    }

    private let status = Mutex(State())

    /// The state.
    public var state: SFSpeechRecognitionTaskState { status.withLock { $0.state } }

    /// Whether the audio has ended.
    public var isFinishing: Bool { status.withLock { $0.isFinishing } }

    /// Whether the task was cancelled.
    public var isCancelled: Bool { status.withLock { $0.isCancelled } }

    /// The error with which the task failed; nil if it has not failed.
    public var error: (any Error)? { status.withLock { $0.error } }

    /// Ends the audio. The results for the audio so far are still reported.
    public func finish() {
        let finish = status.withLock { state in
            state.isFinishing = true
            return state.finish
        }
        finish?()
    }

    /// Cancels the task. The handler gets an error with the code `canceled`.
    public func cancel() {
        let work = status.withLock { state in
            guard state.state != .completed else { return nil as Task<Void, Never>? }
            state.isCancelled = true
            state.state = .canceling
            return state.work
        }
        work?.cancel()
    }

    // MARK: For the recognizer

    func begin(_ work: Task<Void, Never>, finish: @escaping @Sendable () -> Void) {
        let (isCancelled, isFinishing) = status.withLock { state in
            (state.work, state.finish) = (work, finish)
            return (state.isCancelled, state.isFinishing)
        }
        if isCancelled { work.cancel() }
        if isFinishing { finish() }
    }

    /// Advances to a later state. Does nothing if the task was cancelled or completed.
    func update(_ newState: SFSpeechRecognitionTaskState) {
        status.withLock { state in
            guard state.state.rawValue < newState.rawValue, state.state != .canceling else { return }
            state.state = newState
            if newState == .finishing { state.isFinishing = true }
        }
    }

    func complete(_ error: SFSpeechError?) {
        status.withLock { state in
            state.error = error
            state.state = .completed
            (state.work, state.finish) = (nil, nil)
        }
    }
}

/// Receives a task's progress, on the recognizer's queue.
public protocol SFSpeechRecognitionTaskDelegate: AnyObject, Sendable {
    /// Speech was detected for the first time.
    func speechRecognitionDidDetectSpeech(_ task: SFSpeechRecognitionTask)

    /// A partial result is available.
    func speechRecognitionTask(
        _ task: SFSpeechRecognitionTask, didHypothesizeTranscription transcription: SFTranscription)

    /// The final result is available.
    func speechRecognitionTask(
        _ task: SFSpeechRecognitionTask, didFinishRecognition recognitionResult: SFSpeechRecognitionResult)

    /// The audio has ended.
    func speechRecognitionTaskFinishedReadingAudio(_ task: SFSpeechRecognitionTask)

    /// The task was cancelled.
    func speechRecognitionTaskWasCancelled(_ task: SFSpeechRecognitionTask)

    /// The task has ended.
    func speechRecognitionTask(_ task: SFSpeechRecognitionTask, didFinishSuccessfully successfully: Bool)

    /// Audio has been processed. `duration` is the number of seconds processed so far, including silence.
    func speechRecognitionTask(_ task: SFSpeechRecognitionTask, didProcessAudioDuration duration: TimeInterval)
}

extension SFSpeechRecognitionTaskDelegate {
    /// Does nothing.
    public func speechRecognitionDidDetectSpeech(_ task: SFSpeechRecognitionTask) {}

    /// Does nothing.
    public func speechRecognitionTask(
        _ task: SFSpeechRecognitionTask, didHypothesizeTranscription transcription: SFTranscription
    ) {}

    /// Does nothing.
    public func speechRecognitionTask(
        _ task: SFSpeechRecognitionTask, didFinishRecognition recognitionResult: SFSpeechRecognitionResult
    ) {}

    /// Does nothing.
    public func speechRecognitionTaskFinishedReadingAudio(_ task: SFSpeechRecognitionTask) {}

    /// Does nothing.
    public func speechRecognitionTaskWasCancelled(_ task: SFSpeechRecognitionTask) {}

    /// Does nothing.
    public func speechRecognitionTask(_ task: SFSpeechRecognitionTask, didFinishSuccessfully successfully: Bool) {}

    /// Does nothing.
    public func speechRecognitionTask(
        _ task: SFSpeechRecognitionTask, didProcessAudioDuration duration: TimeInterval
    ) {}
}
