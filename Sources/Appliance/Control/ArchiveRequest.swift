import Core

/// A request to the appliance's archive.
package enum ArchiveRequest: Hashable, Sendable {
    case list

    /// The transcript from a pass, or from the default pass if `pass` is nil.
    case show(recording: Int, pass: Int? = nil)

    case passes(recording: Int)

    /// The default pass.
    case pass(recording: Int)

    case search(words: String, limit: Int)

    /// The history of one recording, or of the recorder and all recordings if `recording` is nil.
    case history(recording: Int?)

    case delete(recordings: [Int])

    case redact(RedactionRequest)

    /// Verifies these recordings, or all recordings if the list is empty. A quick check skips the audio.
    case verify(recordings: [Int], isQuick: Bool)

    case exportsOf(recording: Int)
    case exportsTo(volume: String)
    case exported(ExportEntry)

    /// Imports a part of a file with corrections; `recording` is nil if the user gave no number. `ControlResponder`
    /// joins the parts and passes only the last one to the handler, with the whole text.
    case importing(ImportPart, recording: Int?)

    /// Adds a file that was prepared in a folder with this name beside the recordings.
    case adding(folder: String)

    /// Whether the request can be cancelled when its client disconnects.
    var onlyReads: Bool {
        switch self {
        case .list, .show, .passes, .pass, .search, .history, .verify, .exportsOf, .exportsTo: true
        case .delete, .redact, .exported, .importing, .adding: false
        }
    }

    var mayTakeLong: Bool {
        switch self {
        case .list, .show, .passes, .pass, .search, .history, .verify, .delete, .redact, .importing: true
        case .exportsOf, .exportsTo, .exported, .adding: false
        }
    }
}
