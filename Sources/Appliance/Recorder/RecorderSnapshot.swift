import Core

/// What others may ask of the recorder at any time; its loop alone writes it.
struct RecorderSnapshot: Sendable {
    var state = Event.State.idle

    /// The recording that goes on.
    var live: LiveRecording?

    /// Whether one is being begun, goes on, or is not closed yet.
    var isOpen = false

    /// Whether a laptop is connected to the board's own port.
    var hasLaptop = false

    /// The last thing that went wrong since the appliance was started.
    var lastFault: RecorderFault?
}
