import Core
import System

/// Sealing a recording, in three steps, each of which a start can complete: `beginSealed`, from which on its journal has none of
/// its text; removing its files, which is the caller's; and `endSealed`, before which nobody is told that it is sealed.
extension SQLiteArchive {
    /// How long a recording's journal is, in bytes, and what it holds: as long as it stays so, nothing more was entered.
    package func journalContent(of recording: Int) throws -> (bytes: Int64, text: String) {
        let content = try journal.content(of: recording)
        return (Int64(content.count), String(decoding: content, as: UTF8.self))
    }

    /// Whether a recording's sealing was begun, and has not come to its end: what was said in it cannot be changed any more.
    package func isBeingSealed(_ recording: Int) -> Bool { sealing.contains(recording) }

    /// Puts a journal in the place of a recording's that has nothing but when it was, where it was copied to, and its seal. From then on
    /// nothing of what was said is entered.
    ///
    /// - Parameter bytes: the journal's length when that was sealed.
    /// - Returns: false where something was entered since, or there is no such recording any more: then all is as it was.
    package func beginSealed(_ recording: Int, _ manifest: SealedManifest, journalOf bytes: Int64) throws -> Bool {
        guard !erasing.contains(recording), let row = try queries.recording(recording), !row.isSealed,
            try journal.size(of: recording) == bytes
        else { return false }
        let known = try journalEntries(of: recording)
        var entries = known.compactMap { entry -> JournalEntry? in
            switch entry {
            case .recording, .began, .dated, .ended: return entry
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
                let length = try journal.replace(entries, recording: recording)
                try connection.run(
                    "UPDATE recording SET journal_bytes = ?2 WHERE id = ?1", .integer(recording), .integer(length))
            }
        } catch {
            // Where the journal came through and the row did not, nothing is entered until this has come to its end.
            if !isBegun(recording) { sealing.remove(recording) }
            throw error
        }
        return true
    }

    /// Whether a journal says that its recording is sealed, or may say so.
    private func isBegun(_ recording: Int) -> Bool {
        do { return try seal(of: recording) != nil } catch { return true }
    }

    /// What a recording's journal says of its seal; nil where it says nothing, or another number's recording is there.
    package func seal(of recording: Int) throws -> SealedManifest? {
        JournalRecord(try journal.read(recording).entries).seal
    }

    /// Erases the text, index entries and marks of a recording whose journal says that it is sealed, so that they are gone from the
    /// archive's files; then, and not before, it is told to be sealed.
    package func endSealed(_ recording: Int) async throws {
        guard let manifest = try seal(of: recording) else { throw unknown(recording: recording) }
        sealing.insert(recording)
        try await deleteSegments(of: recording)
        try connection.transaction {
            for table in ["pass", "gap", "mark", "turn"] {
                try connection.run("DELETE FROM \(table) WHERE recording = ?", .integer(recording))
            }
            try connection.run("UPDATE export SET pass = NULL WHERE recording = ?", .integer(recording))
            try connection.run("UPDATE recording SET has_speakers = 0 WHERE id = ?", .integer(recording))
        }
        try await scrub()
        let bytes = try journal.size(of: recording)
        try connection.transaction {
            try connection.run(
                """
                UPDATE recording SET state = ?2, transcribed_samples = length_samples, journal_bytes = ?3 WHERE id = ?1
                """, .integer(recording), .text(manifest.text), .integer(bytes))
            try enter(.sealed, of: recording) { $0.digest = manifest.file }
        }
        sealing.remove(recording)
    }
}

/// Another sealed file in the place of a recording's, in three steps: `beginResealed`; the file takes the place, which is the caller's, and
/// which a start completes; `endResealed`.
extension SQLiteArchive {
    /// Says in a sealed recording's journal what its sealed file is to be.
    ///
    /// - Parameter before: what it is now.
    /// - Returns: false where that is another, or the recording is gone: then nothing is changed.
    package func beginResealed(_ recording: Int, _ manifest: SealedManifest, before: SealedManifest) throws -> Bool {
        guard !erasing.contains(recording), try queries.recording(recording)?.seal == before.text else { return false }
        try connection.transaction { try keep(.sealed(manifest: manifest.text), recording: recording) }
        return true
    }

    /// Says of a sealed recording that its sealed file is the one that its journal tells of.
    package func endResealed(_ recording: Int) throws {
        guard let manifest = try seal(of: recording) else { throw unknown(recording: recording) }
        try connection.transaction {
            try connection.run(
                "UPDATE recording SET state = ?2 WHERE id = ?1", .integer(recording), .text(manifest.text))
            try enter(.sealed, of: recording) { $0.digest = manifest.file }
        }
    }

    /// Enters that recordings were opened, all or none.
    ///
    /// - Parameter digests: the SHA-256 of each one's sealed file, by the recordings' numbers.
    package func enterOpened(_ digests: [Int: String]) throws {
        try connection.transaction {
            for (id, digest) in digests.sorted(by: { $0.key < $1.key }) {
                try enter(.opened, of: id) { $0.digest = digest }
            }
        }
    }
}
