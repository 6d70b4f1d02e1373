import Core

/// A command from a client to the recorder.
package enum RecorderCommand: Hashable, Sendable {
    /// Starts a recording, or resumes a paused one. Does nothing while recording.
    case start
    /// Stops the recording, and cancels a start that is waiting for it to close. Does nothing while idle.
    case stop
    case toggle
    /// Does nothing while paused. Fails if no recording is running or starting.
    case pause
    /// Does nothing if the recording is not paused. Fails if no recording is running or starting.
    case resume
    /// Sets a bookmark at the current position. The text may be empty.
    case mark(text: String)
}

/// A request over the control socket. Each gets one response, in order; `watch` gets events instead, in the format of
/// `eventJSON`.
package enum ControlRequest: Hashable, Sendable {
    case command(RecorderCommand)

    case status

    /// Subscribes to events; `partials` adds levels and partial transcripts.
    case watch(partials: Bool)

    /// Presses or releases the button of a simulated panel.
    case press, release

    case lamp

    /// Reports the state of a copy to a stick, for the lamp and for subscribers.
    case exporting(Event.ExportState, message: String)

    /// Asks whether the user allows a stick by holding the button while plugging it in; see
    /// `PanelController.claimHold`.
    case claim

    /// Reports whether a laptop is connected to the board's own USB port, for the lamp and for subscribers.
    case laptop(isConnected: Bool)

    /// Reports new settings; they take effect once nothing is being recorded or copied.
    case settings

    /// Opens sealed recordings with a private key for an hour. `name` identifies the key in errors.
    case open(key: String, name: String)

    case lock

    /// A request to the archive. Fails if `directory` is neither nil nor the appliance's storage directory.
    case archive(ArchiveRequest, directory: String?)

    /// Whether the request can be cancelled when its client disconnects.
    var onlyReads: Bool {
        switch self {
        case .status: true
        case .archive(let request, _): request.onlyReads
        default: false
        }
    }

    /// Whether the request occupies a slot for long requests; see `ControlExchange.beginLongRequest`.
    var mayTakeLong: Bool {
        switch self {
        case .watch, .open: true
        case .archive(let request, _): request.mayTakeLong
        default: false
        }
    }
}
