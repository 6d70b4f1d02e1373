import Core

/// What a client asks over the control socket. A request is answered by one response, in order; `watch` is answered by
/// events from then on, as `eventJSON` writes them.
package enum ControlRequest: Hashable, Sendable {
    case start
    case stop
    case toggle
    /// Takes nothing of the recording that goes on, until `resume`.
    case pause, resume

    /// Sets a bookmark with this text, which may be empty.
    case mark(text: String)

    /// How the appliance is doing.
    case status

    /// All events from now on; whether levels and partial readings are among them.
    case watch(partials: Bool)

    /// Presses the button of a simulated panel, or releases it.
    case press, release

    /// What the lamp of a simulated panel has shown.
    case lamp

    /// How a copy to a stick is going, for the lamp and for those who watch, with a sentence about it.
    case exporting(Event.ExportState, message: String)

    /// Whether the button is held for a stick that is being plugged in, so soon after power-on that this makes it known.
    case claim

    /// Whether a laptop is connected to the board's own USB port, for the lamp and for those who watch.
    case laptop(isConnected: Bool)

    /// Other settings were kept: they take effect once nothing is being recorded.
    case settings

    /// Opens what is sealed by a private key, for an hour; where it came from, for errors.
    case open(key: String, name: String)

    /// Locks what is open.
    case lock

    /// Asks the archive, which the appliance owns as long as it runs; of this storage directory, nil for the appliance's own.
    case archive(ArchiveRequest, directory: String?)

    /// Whether nobody wants the answer any more once the client is gone.
    var onlyReads: Bool {
        switch self {
        case .status: true
        case .archive(let request, _): request.onlyReads
        default: false
        }
    }

    /// Whether its answer may take long, or comes only when the client goes.
    var mayTakeLong: Bool {
        switch self {
        case .watch, .open: true
        case .archive(let request, _): request.mayTakeLong
        default: false
        }
    }
}
