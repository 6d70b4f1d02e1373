import Core
import Recognition

/// A message to the recorder's loop: an input of `RecorderState`, with the objects that belong to it.
enum RecorderMessage: Sendable {
    typealias Reply = CheckedContinuation<Result<Recorder.Answer, DeviceError>, Never>

    case input(RecorderInput)
    case order(RecorderOrder, RecorderMoment, Reply)
    case shutDown(RecorderMoment, Reply)
    /// A recording was added to the archive; its pool is nil if no worker can be started.
    case opened(attempt: Int, LiveRecording, WorkerPool?, RecorderMoment)
    /// See `Recorder.prepareForRestart`.
    case retire(CheckedContinuation<Bool, Never>)
    case isAlive(CheckedContinuation<Bool, Never>)
}
