import Core

/// What a client asks of the appliance's archive.
package enum ArchiveRequest: Hashable, Sendable {
    /// Every recording.
    case list

    /// A recording's transcript, by its number.
    case show(recording: Int)

    /// The same, of one of the recording's passes.
    case reading(recording: Int, pass: Int)

    /// A recording's passes.
    case passes(recording: Int)

    /// The pass that `show` shows.
    case pass(recording: Int)

    /// At most so many places where these words were said.
    case search(words: String, limit: Int)

    /// What was done to a recording; nil: to all, and to the recorder.
    case history(recording: Int?)

    /// Erases recordings.
    case delete(recordings: [Int])

    /// Strikes a stretch of a recording.
    case strike(RedactionOrder)

    /// Checks recordings, none for all; whether the sound is left alone.
    case verify(recordings: [Int], isQuick: Bool)

    /// The copies of a recording, and those on a volume, in the ledger.
    case exportsOf(recording: Int)
    case exportsTo(volume: String)

    /// Enters a copy into the ledger.
    case exported(ExportEntry)

    /// A part of a file that people have corrected, of the recording that a person names, nil where the file does.
    /// `ControlSocket` puts the parts together: its handler gets the last one alone, with the whole text.
    case importing(ImportPart, recording: Int?)

    /// Whether nobody wants the answer any more once the client is gone.
    var onlyReads: Bool {
        switch self {
        case .list, .show, .reading, .passes, .pass, .search, .history, .verify, .exportsOf, .exportsTo: true
        case .delete, .strike, .exported, .importing: false
        }
    }

    /// Whether its answer may take long.
    var mayTakeLong: Bool {
        switch self {
        case .list, .show, .reading, .passes, .pass, .search, .history, .verify, .delete, .strike, .importing: true
        case .exportsOf, .exportsTo, .exported: false
        }
    }
}
