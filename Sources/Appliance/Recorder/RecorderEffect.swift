import Core
import System

/// What the recorder's machine wants done. Most of it is answered by an input, in any order and however late.
enum RecorderEffect: Hashable, Sendable {
    /// Opens the microphone and enters a recording into the archive: `opened` or `refused`.
    case open(attempt: Int)
    /// Records what was opened: `begun`, `closed`, `ended`.
    case record(Int)
    /// Looks how a recording does, a moment later: `looked`.
    case look(Int)
    /// Ends a recording.
    case close(Int, StopReason)
    /// Takes nothing of a recording from now on, or something again.
    case setPaused(Int, Bool)
    /// Marks the place that was recorded at that monotonic time: `marked`.
    case mark(Int, text: String, at: Duration, RecorderTicket?)
    /// Strikes the minute before that monotonic time: `marked`.
    case strike(Int, before: Duration)
    case answer(RecorderTicket, Result<Recorder.Answer, DeviceError>)
    /// Tells those who watch.
    case publish(Event)
    case log(LogLine)
    /// Sees to what earlier recordings lack: `upkeepWrites`, `upkeepEnded`.
    case upkeep
    case breakOffUpkeep
    /// `due`, so much later.
    case wake(RecorderInput.Timer, after: Duration)
    /// Ends the decode workers that nobody needs.
    case releaseWorkers
    /// Switches the machine off.
    case powerOff
}
