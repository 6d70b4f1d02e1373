import Core
import System

extension SQLiteArchive {
    /// Adds a recording whose files are complete and durable in a folder beside the recordings' folders.
    ///
    /// The folder gets its final name once the recording's journal is in it. So a power cut leaves either the whole
    /// recording or only the prepared folder, which is removed later.
    ///
    /// - Parameters:
    ///   - prepared: The folder's name.
    ///   - file: The content of `AddedFile.description` in the folder.
    /// - Returns: The recording's number.
    /// - Throws: `DeviceError` with `busy`, with nothing changed, if the same file was already added.
    package func add(_ file: AddedFile, in prepared: String) throws -> Int {
        try checkLocation()
        guard ScratchFolder.isName(prepared, for: AddedFile.purpose) else {
            throw DeviceError(.unsupported, "add", "\(prepared): is not the folder for a prepared file")
        }
        if let existing = try queries.history(of: nil).map(\.entry).recording(addedFrom: file.digest) {
            throw AddedFile.duplicateError(existing, file.name)
        }
        // There is no boot ID, because this boot's clock does not apply to an old file.
        let start = JournalRecord.Start(
            startedAt: file.startedAt, clock: file.clock, microphone: file.source, boot: nil, monotonic: nil)
        let gaps = file.damage.map { Gap($0, cause: .damage) }
        let id = try claimNumber { id in
            try journal.claim(id, for: prepared, start.entries(of: id) + gaps.map { .gap(content: $0) })
        }
        do {
            try connection.transaction {
                try insert(start, id: id)
                for gap in gaps { _ = try insert(gap, recording: id) }
                try store(journalBytes: journal.size(of: id), of: id)
                try addToHistory(.added, of: id) {
                    $0.digest = file.digest
                    $0.kept = file.kept
                }
            }
        } catch {
            journal.release(id, as: prepared)
            throw error
        }
        try endRecording(id, length: file.length, reason: file.reason)
        return id
    }
}
