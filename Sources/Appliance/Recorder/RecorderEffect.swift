import Core

/// An action that `RecorderState` requests from its loop. Most effects are answered by inputs, in any order and at any
/// time.
enum RecorderEffect: Hashable, Sendable {
    /// Opens the microphone and adds a recording to the archive. Answer: `opened` or `openFailed`.
    case open(attempt: Int)
    /// Starts recording from the opened microphone. Answers: `begun`, `closed`, `ended`.
    case record(Int)
    /// Checks a recording after 250 ms. Answer: `checked`.
    case check(Int)
    case close(Int, StopReason)
    case setPaused(Int, Bool)
    /// Marks the position that was recorded at that time on the monotonic clock. Answer: `marked`.
    case mark(Int, text: String, at: Duration, RecorderTicket?)
    /// Redacts the minute before that time on the monotonic clock. Answer: `marked`.
    case redact(Int, before: Duration)
    case answer(RecorderTicket, Result<Recorder.Answer, DeviceError>)
    case publish(Event)
    case log(LogLine)
    /// Runs the maintenance of earlier recordings. Answers: `maintenanceTranscribes`, `maintenanceEnded`.
    case maintenance
    case interruptMaintenance
    /// Posts `due` after this duration.
    case wake(RecorderInput.Timer, after: Duration)
    /// Stops idle decode workers.
    case releaseWorkers
    case powerOff
}
