import Core
import System

extension SQLiteArchive {
    /// Stores whether a recording's audio is missing. The recording's row and text are kept.
    ///
    /// - Throws: `DeviceError` with `missing` if there is no such recording, or if it is sealed.
    package func markMissing(recording: Int, _ isMissing: Bool) throws {
        let changed = try connection.run(
            "UPDATE recording SET state = ?2 WHERE id = ?1 AND state NOT LIKE 'sealed %'", .integer(recording),
            .text(isMissing ? "missing" : "present"))
        if changed == 0 { throw notFound(recording: recording) }
    }

    /// Returns the starts of a boot's recordings that began before the clock was set.
    package func unverifiedStarts(inBoot boot: String) throws -> [BootedStart] {
        try connection.rows(
            """
            SELECT id, monotonic_ns FROM recording
            WHERE clock = 'unverified' AND boot_id = ? AND monotonic_ns IS NOT NULL
                AND \(ArchiveQueries.hasPossibleNumber)
            ORDER BY id
            """, [.text(boot)]
        ) { BootedStart(recording: $0.integer(0), nanoseconds: $0.integer64(1)) }
    }

    /// Corrects a recording's start after the clock was set.
    package func redate(recording: Int, startedAt: Double) throws {
        try changing(.dated(startedAt: startedAt), recording: recording) {
            try connection.run(
                "UPDATE recording SET started_at = ?2, clock = 'synchronized' WHERE id = ?1", .integer(recording),
                .real(startedAt))
        }
    }

    /// Erases recordings' rows, index entries and export entries, so that the archive's files no longer contain their
    /// text. Adds the erasures to the history. The caller erases audio and journals.
    package func delete(recordings: [Int]) async throws {
        erasing.formUnion(recordings)
        sealing.subtract(recordings)
        defer { erasing.subtract(recordings) }
        // If the disk is full, erases the recordings anyway. `openRepairing` tries again to store the number.
        try? storeHighestNumber()
        for recording in recordings { try await delete(recording) }
        try await scrub()
    }

    /// Removes the content of deleted rows from the archive's files.
    func scrub() async throws {
        // The index keeps deleted words until its segments are merged. It is merged in steps, so that other changes can
        // be written in between.
        try connection.execute("INSERT INTO segment_text (segment_text, rank) VALUES ('merge', -\(Self.pagesPerMerge))")
        while true {
            let before = connection.changes
            try connection.execute(
                "INSERT INTO segment_text (segment_text, rank) VALUES ('merge', \(Self.pagesPerMerge))")
            // Fewer than two changes mean that nothing was left to merge.
            // https://www.sqlite.org/fts5.html#the_merge_command
            if connection.changes - before < 2 { break }
            await Task.yield()
        }
        // The log keeps old pages, even those from an interrupted erasure, until it is truncated.
        try await readers.pausing { try await self.emptyLog() }
    }

    /// A merge of this many index pages takes some milliseconds.
    private static let pagesPerMerge = 64
    private static let segmentsPerTransaction = 200

    func deleteSegments(of recording: Int) async throws {
        while true {
            let count = try connection.transaction {
                try connection.run(
                    """
                    DELETE FROM segment WHERE id IN (
                        SELECT segment.id FROM segment JOIN pass ON pass.id = segment.pass
                        WHERE pass.recording = ? LIMIT \(Self.segmentsPerTransaction))
                    """, .integer(recording))
            }
            if count < Self.segmentsPerTransaction { break }
            await Task.yield()
        }
    }

    /// Deletes a recording's rows. If this is interrupted, the next start repeats it, because the recording's folder
    /// has already been renamed.
    private func delete(_ recording: Int) async throws {
        try await deleteSegments(of: recording)
        try connection.transaction {
            let boot = try connection.rows("SELECT boot_id FROM recording WHERE id = ?", [.integer(recording)]) {
                $0.optionalText(0)
            }
            let count = try connection.run("DELETE FROM recording WHERE id = ?", .integer(recording))
            guard count > 0 else { return }
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
                "the archive's log could not be emptied, so erased text may still be in it; repeat the command")
        }
    }

    package func add(_ entry: ExportEntry) throws {
        var entry = entry
        // If the recording was sealed after the copy began, the pass no longer exists.
        if let pass = entry.pass, try !queries.passes(of: entry.recording).contains(where: { $0.id == pass }) {
            entry.pass = nil
        }
        // A copy that began before the last redaction may contain the redacted words.
        if let count = entry.redactionCount, try queries.gaps(of: entry.recording).redacted.count != count {
            entry.pass = nil
        }
        entry.redactionCount = nil
        var journaled = entry
        journaled.pass = try entry.pass.map { try queries.number(ofPass: $0, in: entry.recording) }
        // Another pass with the same text adds the same copy again; the history gets it only once.
        let isInHistory = try queries.exports(of: entry.recording).contains {
            ($0.volume, $0.folder, $0.manifest) == (entry.volume, entry.folder, entry.manifest)
        }
        try connection.transaction {
            try insert(entry)
            try appendToJournal(.exported(content: journaled), recording: entry.recording)
            if isInHistory { return }
            try addToHistory(.copied, of: entry.recording) {
                // A folder's path may name people, and the history is never erased.
                $0.volume = entry.volume.hasPrefix("folder:") ? "folder" : entry.volume
                $0.folder = entry.folder
                $0.digest = entry.digest
            }
        }
    }
}
