import Core
import Recognition

/// What reaches the recorder's loop: an input of its machine, with what is no value besides.
enum RecorderMessage: Sendable {
    typealias Reply = CheckedContinuation<Result<Recorder.Answer, DeviceError>, Never>

    case input(RecorderInput)
    case order(Recorder.Order, StopReason, RecorderMoment, Reply)
    case shutDown(RecorderMoment, Reply)
    /// A recording was entered into the archive, and who will read it; nil where nobody can.
    case opened(attempt: Int, LiveRecording, WorkerPool?, RecorderMoment)
    /// The appliance is to be put together anew, where nothing is being recorded or copied; whether it ends for that.
    case retire(CheckedContinuation<Bool, Never>)
    case isAlive(CheckedContinuation<Bool, Never>)
}
