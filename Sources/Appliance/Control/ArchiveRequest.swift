import Core

/// A request to the appliance's archive.
package enum ArchiveRequest: Hashable, Sendable {
    case list

    /// The transcript of a pass; nil for the default pass.
    case show(recording: Int, pass: Int? = nil)

    case passes(recording: Int)

    /// The default pass.
    case pass(recording: Int)

    case search(words: String, limit: Int)

    /// The history of a recording; nil for all recordings and the recorder itself.
    case history(recording: Int?)

    case delete(recordings: [Int])

    case redact(RedactionRequest)

    /// Verifies recordings, or all if there are no numbers. A quick check skips the audio.
    case verify(recordings: [Int], isQuick: Bool)

    /// The copies of a recording or on a volume.
    case exportsOf(recording: Int)
    case exportsTo(volume: String)

    /// Adds a copy.
    case exported(ExportEntry)

    /// A part of a file with corrections; `recording` is nil if the user did not give it. `ControlResponder` joins the
    /// parts: the handler gets only the last one, with the whole text.
    case importing(ImportPart, recording: Int?)

    /// Adds a prepared file, given the name of its folder beside the recordings.
    case adding(folder: String)

    /// Whether the request can be cancelled when its client disconnects.
    var onlyReads: Bool {
        switch self {
        case .list, .show, .passes, .pass, .search, .history, .verify, .exportsOf, .exportsTo: true
        case .delete, .redact, .exported, .importing, .adding: false
        }
    }

    /// Whether the response may take long.
    var mayTakeLong: Bool {
        switch self {
        case .list, .show, .passes, .pass, .search, .history, .verify, .delete, .redact, .importing: true
        case .exportsOf, .exportsTo, .exported, .adding: false
        }
    }
}
