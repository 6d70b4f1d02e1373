import Core

/// What `RecorderState` asks its loop to do. Inputs answer most effects, in any order and without a time limit.
enum RecorderEffect: Hashable, Sendable {
    /// Opens the microphone and adds a recording to the archive. Answer: `opened` or `refused`.
    case open(attempt: Int)
    /// Starts recording from the opened microphone. Answers: `begun`, `closed`, `ended`.
    case record(Int)
    /// Checks a recording, 250 ms later. Answer: `checked`.
    case check(Int)
    case close(Int, StopReason)
    case setPaused(Int, Bool)
    /// Marks the position recorded at that monotonic time. Answer: `marked`.
    case mark(Int, text: String, at: Duration, RecorderTicket?)
    /// Redacts the minute before that monotonic time. Answer: `marked`.
    case redact(Int, before: Duration)
    case answer(RecorderTicket, Result<Recorder.Answer, DeviceError>)
    case publish(Event)
    case log(LogLine)
    /// Runs maintenance of earlier recordings. Answers: `maintenanceWrites`, `maintenanceEnded`.
    case maintenance
    case interruptMaintenance
    /// Posts `due` after that time.
    case wake(RecorderInput.Timer, after: Duration)
    /// Ends the decode workers that are idle.
    case releaseWorkers
    case powerOff
}
