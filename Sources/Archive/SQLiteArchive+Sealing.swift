import Core

/// Sealing leaves only an encrypted file of a recording. It has three steps: `beginSealing` removes the text from the
/// journal, the caller removes the readable files, and `finishSealing` removes the rows and marks the recording as
/// sealed. Every start of the program completes interrupted steps.
extension SQLiteArchive {
    /// Returns a recording's journal and its length in bytes, for `beginSealing`.
    package func journalContent(of recording: Int) throws -> (bytes: Int64, text: String) {
        let content = try journal.content(of: recording)
        return (Int64(content.count), String(decoding: content, as: UTF8.self))
    }

    /// Replaces a recording's journal with one that has only its number, start, end, copies and seal. Afterwards, no
    /// text can be added.
    ///
    /// - Parameter bytes: The length of the journal that was sealed.
    /// - Returns: False, with nothing changed, if the journal's length has changed since, or if the recording no longer
    ///   exists or is already sealed.
    package func beginSealing(_ recording: Int, _ manifest: SealedManifest, journalOf bytes: Int64) throws -> Bool {
        guard !erasing.contains(recording), let row = try queries.recording(recording), !row.isSealed,
            try journal.size(of: recording) == bytes
        else { return false }
        let oldEntries = try journalEntries(of: recording)
        var entries = oldEntries.compactMap { entry -> JournalEntry? in
            switch entry {
            case .began(let startedAt, let clock, let microphone, let boot, let monotonic):
                return .began(
                    startedAt: startedAt, clock: clock,
                    microphone: AddedFile.isSource(microphone) ? AddedFile.sealedSource : microphone, boot: boot,
                    monotonic: monotonic)
            case .recording, .dated, .ended: return entry
            case .exported(var content):
                content.pass = nil
                return .exported(content: content)
            case .pass, .passEnded, .segment, .correction, .gap, .mark, .speakers, .sealed: return nil
            }
        }
        entries.append(.sealed(manifest: manifest.text))
        sealing.insert(recording)
        do {
            try connection.transaction {
                try store(journalBytes: journal.replace(entries, recording: recording), of: recording)
            }
        } catch {
            // If the journal was replaced before the failure, no text may be added until sealing is finished.
            if !mayHaveSeal(recording) { sealing.remove(recording) }
            throw error
        }
        return true
    }

    /// Whether the journal has a seal. Also true if the journal cannot be read.
    private func mayHaveSeal(_ recording: Int) -> Bool {
        do { return try seal(of: recording) != nil } catch { return true }
    }

    /// Returns the seal in a recording's journal; nil if there is none.
    package func seal(of recording: Int) throws -> SealedManifest? {
        JournalRecord(try journal.read(recording).entries).seal
    }

    /// Erases the text of a recording whose journal has a seal: its rows, its index entries, and what free pages in the
    /// archive's files still contain. Then marks the recording as sealed.
    package func finishSealing(_ recording: Int) async throws {
        guard let manifest = try seal(of: recording) else { throw notFound(recording: recording) }
        sealing.insert(recording)
        try await deleteSegments(of: recording)
        try connection.transaction {
            for table in ["pass", "gap", "mark", "turn"] {
                try connection.run("DELETE FROM \(table) WHERE recording = ?", .integer(recording))
            }
            try connection.run("UPDATE export SET pass = NULL WHERE recording = ?", .integer(recording))
            try connection.run("UPDATE recording SET has_speakers = 0 WHERE id = ?", .integer(recording))
            if let row = try queries.recording(recording), AddedFile.isSource(row.microphone) {
                try connection.run(
                    "UPDATE recording SET microphone = ?2 WHERE id = ?1", .integer(recording),
                    .text(AddedFile.sealedSource))
            }
        }
        try await scrub()
        let bytes = try journal.size(of: recording)
        try connection.transaction {
            try connection.run(
                """
                UPDATE recording SET state = ?2, transcribed_samples = length_samples, journal_bytes = ?3 WHERE id = ?1
                """, .integer(recording), .text(manifest.text), .integer(bytes))
            try addToHistory(.sealed, of: recording) { $0.digest = manifest.file }
        }
        sealing.remove(recording)
    }
}

/// Replacing a sealed file has three steps: `beginResealing`, the replacement of the file by the caller, and
/// `finishResealing`. Every start of the program completes interrupted steps.
extension SQLiteArchive {
    /// Appends the new sealed file's manifest to the journal.
    ///
    /// - Parameter before: The current manifest.
    /// - Returns: False, with nothing changed, if the current manifest differs or the recording no longer exists.
    package func beginResealing(_ recording: Int, _ manifest: SealedManifest, before: SealedManifest) throws -> Bool {
        guard !erasing.contains(recording), try queries.recording(recording)?.seal == before.text else { return false }
        try connection.transaction { try appendToJournal(.sealed(manifest: manifest.text), recording: recording) }
        return true
    }

    /// Marks a recording as sealed with the manifest in its journal.
    package func finishResealing(_ recording: Int) throws {
        guard let manifest = try seal(of: recording) else { throw notFound(recording: recording) }
        try connection.transaction {
            try connection.run(
                "UPDATE recording SET state = ?2 WHERE id = ?1", .integer(recording), .text(manifest.text))
            try addToHistory(.sealed, of: recording) { $0.digest = manifest.file }
        }
    }

    /// Adds the opening of sealed recordings to the history, in one transaction.
    ///
    /// - Parameter digests: The SHA-256 of each sealed file, by recording.
    package func addOpeningsToHistory(_ digests: [Int: String]) throws {
        try connection.transaction {
            for (id, digest) in digests.sorted(by: { $0.key < $1.key }) {
                try addToHistory(.opened, of: id) { $0.digest = digest }
            }
        }
    }
}
