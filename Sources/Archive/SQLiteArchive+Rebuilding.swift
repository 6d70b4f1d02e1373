import Core

extension SQLiteArchive {
    /// An opened archive, and the repairs that were needed to open it.
    package struct Opened: Sendable {
        package var archive: SQLiteArchive
        /// The new path of the database, if it was set aside.
        package var setAside: String?
        /// The new path of anything that was in place of the recordings' folder; nil if nothing was.
        package var rootSetAside: String?
    }

    /// Opens the archive and repairs it if needed. A database that is damaged, another program's, not a file or not
    /// readable is set aside, never deleted. `catchUp(with:)` rebuilds it from the journals in the recordings' folders.
    ///
    /// - Parameter isChecked: Whether to check the whole database for damage first.
    /// - Throws: The same errors as `init`, but `damaged` only if the disk also damages new files.
    package static func openRepairing(path: String, isChecked: Bool) async throws -> Opened {
        do {
            return try await opened(path, setAside: nil, isChecked: isChecked)
        } catch let error as DeviceError {
            let files = DatabaseFiles(path)
            guard
                error.code == .damaged || error.cause == .foreignDatabase
                    || (error.code == .denied && files.areDenied)
            else { throw error }
            let aside: String
            do throws(DeviceError) { aside = try files.setAside() } catch let refusal {
                // If the folder cannot be written, the first error is more useful.
                throw refusal.code == .denied ? error : refusal
            }
            return try await opened(path, setAside: aside, isChecked: isChecked)
        }
    }

    // A separate function, so that a damaged database is closed when it throws.
    private static func opened(_ path: String, setAside: String?, isChecked: Bool) async throws -> Opened {
        let archive = try SQLiteArchive(path: path, isChecked: isChecked)
        let rootSetAside = try archive.journal.setAsideNonFolder()
        // The stored number may be missing if an earlier version erased recordings.
        try? await archive.storeHighestNumber()
        // If the history file cannot be read, `fieldscribe verify` reports it.
        try? await archive.importHistory()
        return Opened(archive: archive, setAside: setAside, rootSetAside: rootSetAside)
    }

    /// Completes a recording's rows from its journal if the journal's length differs from the stored one. Returns
    /// whether it did.
    ///
    /// - Parameter audio: The length of the recording's audio; nil if the audio is incomplete or its length is unknown.
    /// - Throws: `DeviceError` with the cause `foreignJournal` if the journal belongs to another recording.
    package func catchUp(with recording: Int, audio: SamplePosition? = nil) throws -> Bool {
        let storedSize = try journalBytes(of: recording)
        let size = try journal.size(of: recording)
        guard size > 0, storedSize != size else { return false }
        let record = JournalRecord(try journal.read(recording).entries)
        if storedSize == nil { try refuseIfForeign(record, as: recording, audio: audio) }
        // If the journal's first line is missing, the repair that reads the audio calls `adopt`.
        guard storedSize != nil || record.start != nil else { return false }
        try restore(record, as: recording, journalBytes: size)
        // Records the repair in the history, because entries may be missing there too. A new database gets its entries
        // from the history file.
        if storedSize != nil { try connection.transaction { try addToHistory(.restored, of: recording) } }
        return true
    }

    /// Adds the row for a recording that has a folder but no row, and restores its journal's content. If the journal
    /// has no start, the start is `startedAt`, with an unverified clock.
    package func adopt(recording: Int, startedAt: Double) throws {
        guard try journalBytes(of: recording) == nil else { return }
        var record = JournalRecord(try journal.read(recording).entries)
        try refuseIfForeign(record, as: recording)
        if record.start == nil {
            let start = JournalRecord.Start(startedAt: startedAt, clock: .unverified, microphone: "unknown")
            record.start = start
            _ = try journal.append(start.entries(of: recording), recording: recording, committed: 0)
        }
        try restore(record, as: recording, journalBytes: journal.size(of: recording))
    }

    /// Adds the rows that are missing, and completes the recording's start, end and transcribed length.
    private func restore(_ record: JournalRecord, as recording: Int, journalBytes: Int64) throws {
        try connection.transaction {
            if let start = record.start, try self.journalBytes(of: recording) == nil {
                try insert(start, id: recording)
            }
            if let start = record.start, start.clock == .synchronized {
                try connection.run(
                    "UPDATE recording SET started_at = ?2, clock = 'synchronized' WHERE id = ?1 AND clock = 'unverified'",
                    .integer(recording), .real(start.startedAt))
            }
            if let end = record.end {
                try connection.run(
                    """
                    UPDATE recording SET length_samples = ?2, stop_reason = ?3 WHERE id = ?1 AND stop_reason = 'cut short'
                    """, .integer(recording), .position(end.length), .text(end.reason.rawValue))
            }
            if record.seal != nil {
                try connection.run(
                    "UPDATE recording SET transcribed_samples = length_samples WHERE id = ?", .integer(recording))
            }
            let passIDs = try restore(record.passes, of: recording)
            for gap in record.gaps { _ = try insert(gap, recording: recording) }
            for mark in record.marks { _ = try insert(mark, recording: recording) }
            if let speakers = record.speakers { try replace(speakers, recording: recording) }
            let existingExports = Set(try queries.exports(of: recording))
            for var entry in record.exports {
                entry.recording = recording
                entry.pass = entry.pass.flatMap { passIDs.indices.contains($0 - 1) ? passIDs[$0 - 1] : nil }
                if !existingExports.contains(entry) { try insert(entry) }
            }
            try store(journalBytes: journalBytes, of: recording)
        }
    }

    /// Adds the journal's passes and segments. Returns the row IDs of the passes, in order.
    private func restore(_ journaled: [JournalRecord.Pass], of recording: Int) throws -> [Int] {
        var ids: [Int] = []
        var rows = try queries.passes(of: recording)[...]
        for pass in journaled {
            let row = rows.popFirst()
            if row == nil, let correction = pass.correction {
                ids.append(try insert(correction, pass.orderedSegments, recording: recording))
                continue
            }
            let id = try row?.id ?? insertPass(pass.engine, profile: pass.profile, recording: recording)
            ids.append(id)
            let (last, end) = (row?.lastSegment ?? 0, row?.committedUpTo ?? .zero)
            for segment in pass.orderedSegments where segment.id > last && segment.range.start >= end {
                try insert(segment, pass: id, recording: recording)
            }
            guard pass.isComplete else { continue }
            try connection.run("UPDATE pass SET complete = 1 WHERE id = ?", .integer(id))
            try connection.run(
                "UPDATE recording SET transcribed_samples = max(transcribed_samples, length_samples) WHERE id = ?",
                .integer(recording))
        }
        return ids
    }

    /// Rewrites a recording's journal if it is damaged, differs from the database, or is missing from an existing
    /// folder. Sets the old journal aside. Returns whether the journal was rewritten.
    package func repairJournal(of recording: Int) throws -> Bool {
        let isMissing = try journal.size(of: recording) == 0
        if isMissing, try !journal.hasFolder(recording) { return false }
        let (entries, damagedLines) = try journal.read(recording)
        let record = JournalRecord(entries)
        if record.owner.numbers.isEmpty { try refuseIfForeign(record, as: recording) }
        // If sealing has begun, the text must not be written again; the sealing is completed instead.
        let row = try queries.recording(recording)
        if record.seal != nil, row?.isSealed == false { return false }
        // The texts differ if a transaction reached the write-ahead log although its commit failed. The set-aside
        // journal keeps one of the texts, and the database the other.
        guard try isMissing || damagedLines > 0 || queries.findings(in: journal, of: recording).differs else {
            // Adds the recording's number to an old journal.
            if record.owner.numbers.isEmpty, row != nil, let owner = try journalOwner(of: recording) {
                try connection.transaction { try appendToJournal(owner, recording: recording) }
            }
            return false
        }
        try restore(record, as: recording, journalBytes: try journal.size(of: recording))
        try store(journalBytes: journal.write(journalEntries(of: recording), recording: recording), of: recording)
        return true
    }

    func journalEntries(of recording: Int) throws -> [JournalEntry] {
        var entries = try journalOwner(of: recording).map { [$0] } ?? []
        try connection.rows(
            """
            SELECT started_at, clock, microphone, boot_id, monotonic_ns, length_samples, stop_reason,
                CASE WHEN state LIKE 'sealed %' THEN state END
            FROM recording WHERE id = ?
            """, [.integer(recording)],
            while: { row in
                entries.append(
                    .began(
                        startedAt: row.real(0), clock: RecordingSummary.Clock(rawValue: row.text(1)) ?? .unverified,
                        microphone: row.text(2), boot: row.optionalText(3),
                        monotonic: row.isNull(4) ? nil : row.integer64(4)))
                if row.integer(5) != 0 {
                    entries.append(
                        .ended(length: row.position(5), reason: StopReason(rawValue: row.text(6)) ?? .cutShort))
                }
                if let manifest = row.optionalText(7) { entries.append(.sealed(manifest: manifest)) }
                return true
            })
        for (index, pass) in try queries.passes(of: recording).enumerated() {
            let segments = try queries.segments(ofPass: pass.id)
            if let correction = pass.correction {
                entries.append(.correction(number: index + 1, content: correction, segments: segments))
                continue
            }
            entries.append(.pass(number: index + 1, engine: pass.engine, profile: pass.profile))
            entries += segments.map { .segment(content: $0, pass: index + 1) }
            if pass.isComplete { entries.append(.passEnded(number: index + 1)) }
        }
        entries += try queries.gaps(of: recording).map { .gap(content: $0) }
        entries += try queries.marks(of: recording).map { .mark(content: $0) }
        if let speakers = try queries.speakers(of: recording) { entries.append(.speakers(content: speakers)) }
        for var entry in try queries.exports(of: recording) {
            entry.pass = try entry.pass.map { try queries.number(ofPass: $0, in: recording) }
            entries.append(.exported(content: entry))
        }
        return entries
    }
}

extension DeviceError {
    /// Whether the error concerns the whole database or its disk rather than one recording.
    package var concernsWholeDatabase: Bool { code == .damaged || code == .full || code == .busy }
}
