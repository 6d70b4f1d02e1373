import Core
import System

extension SQLiteArchive {
    /// Records whether the audio of a recording is gone. Its row and its text stay.
    package func markMissing(recording: Int, _ isMissing: Bool) throws {
        let changed = try connection.run(
            "UPDATE recording SET state = ?2 WHERE id = ?1 AND state NOT LIKE 'sealed %'", .integer(recording),
            .text(isMissing ? "missing" : "present"))
        if changed == 0 { throw unknown(recording: recording) }
    }

    /// Returns the starts in this boot that were recorded while the clock was not set.
    package func unverifiedStarts(inBoot boot: String) throws -> [BootedStart] {
        try connection.rows(
            """
            SELECT id, monotonic_ns FROM recording
            WHERE clock = 'unverified' AND boot_id = ? AND monotonic_ns IS NOT NULL AND \(ArchiveQueries.isNumber)
            ORDER BY id
            """, [.text(boot)]
        ) { BootedStart(recording: $0.integer(0), nanoseconds: $0.long(1)) }
    }

    /// Corrects the start of a recording, once the clock is set.
    package func redate(recording: Int, startedAt: Double) throws {
        try changing(.dated(startedAt: startedAt), recording: recording) {
            try connection.run(
                "UPDATE recording SET started_at = ?2, clock = 'synchronized' WHERE id = ?1", .integer(recording),
                .real(startedAt))
        }
    }

    /// Erases recordings with their text, index entries and ledger, so that the text is gone from the archive's files.
    /// The history records the erasure. The caller erases audio and journal.
    package func delete(recordings: [Int]) async throws {
        erasing.formUnion(recordings)
        sealing.subtract(recordings)
        defer { erasing.subtract(recordings) }
        // If the disk is full, erase them anyway; the next opening tries again.
        try? keepHighestNumber()
        for recording in recordings { try await delete(recording) }
        try await scrub()
    }

    /// Removes the contents of deleted rows from the archive's files.
    func scrub() async throws {
        // The index keeps deleted words until its segments are merged. Merge in steps, so that recordings are written in
        // between.
        try connection.execute("INSERT INTO segment_text (segment_text, rank) VALUES ('merge', -\(Self.mergedPages))")
        while true {
            let before = connection.changes
            try connection.execute(
                "INSERT INTO segment_text (segment_text, rank) VALUES ('merge', \(Self.mergedPages))")
            // SQLite's documented sign that nothing was left to merge. https://www.sqlite.org/fts5.html#the_merge_command
            if connection.changes - before < 2 { break }
            await Task.yield()
        }
        // The log keeps old pages, even of an interrupted erasure, until it is truncated.
        try await readers.pausing { try await self.emptyLog() }
    }

    /// Index pages merged per step: some milliseconds of work.
    private static let mergedPages = 64
    /// Segments deleted per transaction.
    private static let erasedSegments = 200

    /// Deletes the segments of a recording, in steps.
    func deleteSegments(of recording: Int) async throws {
        while true {
            let gone = try connection.transaction {
                try connection.run(
                    """
                    DELETE FROM segment WHERE id IN (
                        SELECT segment.id FROM segment JOIN pass ON pass.id = segment.pass
                        WHERE pass.recording = ? LIMIT \(Self.erasedSegments))
                    """, .integer(recording))
            }
            if gone < Self.erasedSegments { break }
            await Task.yield()
        }
    }

    /// Deletes one recording's rows. Erasing its folder completes an interrupted deletion.
    private func delete(_ recording: Int) async throws {
        try await deleteSegments(of: recording)
        try connection.transaction {
            let boot = try connection.rows("SELECT boot_id FROM recording WHERE id = ?", [.integer(recording)]) {
                $0.optionalText(0)
            }
            let gone = try connection.run("DELETE FROM recording WHERE id = ?", .integer(recording))
            guard gone > 0 else { return }
            try connection.run(
                "INSERT INTO erasure (recording, erased_at) VALUES (?, ?)", .integer(recording),
                .real(MonotonicClock.wallSeconds))
            try addToHistory(.erased, of: recording) { $0.begunIn = boot.first ?? nil }
        }
    }

    private func emptyLog() throws {
        let blocked = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)") { $0.integer(0) }
        guard blocked == [0] else {
            throw DeviceError(
                .busy, "PRAGMA wal_checkpoint",
                "the archive's log could not be emptied, so erased text may still be in it; delete again")
        }
    }

    package func add(_ entry: ExportEntry) throws {
        var entry = entry
        // If the recording was sealed after the copy began, its pass is gone.
        if let pass = entry.pass, try !queries.passes(of: entry.recording).contains(where: { $0.id == pass }) {
            entry.pass = nil
        }
        // A copy that began before a redaction may contain the redacted words.
        if let count = entry.struck, try queries.gaps(of: entry.recording).redacted.count != count { entry.pass = nil }
        entry.struck = nil
        var counted = entry
        counted.pass = try entry.pass.map { try queries.number(ofPass: $0, in: entry.recording) }
        // A copy is added again if another pass turns out to have the same text.
        let isKnown = try queries.exports(of: entry.recording).contains {
            ($0.volume, $0.folder, $0.manifest) == (entry.volume, entry.folder, entry.manifest)
        }
        try connection.transaction {
            try insert(entry)
            try appendToJournal(.exported(content: counted), recording: entry.recording)
            if isKnown { return }
            try addToHistory(.copied, of: entry.recording) {
                // A folder's path may name people, and the history is never erased.
                $0.volume = entry.volume.hasPrefix("folder:") ? "folder" : entry.volume
                $0.folder = entry.folder
                $0.digest = entry.digest
            }
        }
    }
}
