import Core

/// Orders that a client can give, like the button.
package enum RecorderOrder: Hashable, Sendable {
    /// Resumes a paused recording. Does nothing while recording.
    case start
    /// Does nothing while idle. Cancels a start that is waiting for the previous recording to close.
    case stop
    case toggle
    /// Does nothing while paused.
    case pause
    /// Does nothing unless paused.
    case resume
    /// Sets a bookmark at the current position, with this text, which may be empty.
    case mark(text: String)
}

/// A request over the control socket. Each gets one response, in order; `watch` gets events instead, as `eventJSON` writes
/// them.
package enum ControlRequest: Hashable, Sendable {
    case order(RecorderOrder)

    case status

    /// Subscribes to all events, with or without levels and partial readings.
    case watch(partials: Bool)

    /// Presses the button of a simulated panel, or releases it.
    case press, release

    /// Returns what the lamp has shown.
    case lamp

    /// Reports the state of a copy to a stick, for the lamp and for subscribers.
    case exporting(Event.ExportState, message: String)

    /// Asks whether the button is held for a stick that is being plugged in, which allows the stick shortly after power-on.
    case claim

    /// Reports whether a laptop is connected to the board's own USB port, for the lamp and for subscribers.
    case laptop(isConnected: Bool)

    /// Reports new settings; they take effect once nothing is being recorded.
    case settings

    /// Opens sealed recordings with a private key, for an hour. `name` is for errors.
    case open(key: String, name: String)

    case lock

    /// A request to the archive of this storage directory; nil for the appliance's own.
    case archive(ArchiveRequest, directory: String?)

    /// Whether the request can be cancelled when its client disconnects.
    var onlyReads: Bool {
        switch self {
        case .status: true
        case .archive(let request, _): request.onlyReads
        default: false
        }
    }

    /// Whether the answer may take long, or lasts until the client disconnects.
    var mayTakeLong: Bool {
        switch self {
        case .watch, .open: true
        case .archive(let request, _): request.mayTakeLong
        default: false
        }
    }
}
