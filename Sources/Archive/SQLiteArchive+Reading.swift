import Core

/// Queries use their own connections, so they neither wait for writes nor delay them. Cancelling the task interrupts
/// the query.
extension SQLiteArchive {
    package nonisolated func recordings() async throws -> [RecordingSummary] {
        try await readers.read { try $0.recordings() }
    }

    /// Returns a recording's row; nil if there is none.
    package nonisolated func recording(_ id: Int) async throws -> RecordingSummary? {
        try await readers.read { try $0.recording(id) }
    }

    /// Returns a recording's gaps in chronological order.
    package nonisolated func gaps(of recording: Int) async throws -> [Gap] {
        try await readers.read { try $0.gaps(of: recording) }
    }

    /// Returns the recordings that were never closed or are not completely transcribed, oldest first.
    package nonisolated func unfinished() async throws -> [RecordingSummary] {
        try await readers.read { try $0.unfinished() }
    }

    package nonisolated func transcript(of recording: Int) async throws -> (RecordingSummary, Timeline)? {
        try await readers.read { try $0.transcript(of: recording) }
    }

    package nonisolated func transcript(of recording: Int, pass: Int) async throws -> (RecordingSummary, Timeline)? {
        try await readers.read { try $0.transcript(of: recording, pass: pass) }
    }

    package nonisolated func search(_ words: String, limit: Int) async throws -> [SearchHit] {
        try await readers.read { try $0.search(words, limit: limit) }
    }

    package nonisolated func passes(of recording: Int) async throws -> [PassSummary] {
        try await readers.read { try $0.passes(of: recording) }
    }

    package nonisolated func shownPass(of recording: Int) async throws -> PassSummary? {
        try await readers.read { try $0.shownPass(of: recording) }
    }

    /// Returns the transcribed recordings whose speakers were never identified, oldest first.
    package nonisolated func withoutSpeakers() async throws -> [RecordingSummary] {
        try await readers.read { try $0.withoutSpeakers() }
    }

    package nonisolated func exports(to volume: String) async throws -> [ExportEntry] {
        try await readers.read { try $0.exports(to: volume) }
    }

    package nonisolated func exports(of recording: Int) async throws -> [ExportEntry] {
        try await readers.read { try $0.exports(of: recording) }
    }

    /// Returns the number of damaged lines in a recording's journal, and whether its text differs from the database's.
    package nonisolated func journalFindings(of recording: Int) async throws -> (damagedLines: Int, differs: Bool) {
        let journal = journal
        let found = try await readers.read { try $0.findings(in: journal, of: recording) }
        guard found != (0, false) else { return found }
        // A commit writes the journal first, so the two differ meanwhile. The actor compares them between commits.
        return try await findingsWithoutWrites(of: recording)
    }

    private func findingsWithoutWrites(of recording: Int) throws -> (damagedLines: Int, differs: Bool) {
        try queries.findings(in: journal, of: recording)
    }

    /// Returns the SHA-256 of a recording's signed samples from its journal; nil if the journal has none.
    package nonisolated func journalAudioDigest(of recording: Int) async throws -> String? {
        let journal = journal
        return try await readers.read { _ in JournalRecord(try journal.read(recording).entries).owner.audioDigest }
    }

    /// Checks the whole database for damage.
    ///
    /// - Throws: `DeviceError` with `damaged` if it is damaged.
    package nonisolated func check() async throws {
        let path = "\(journal.storage.path)/archive.sqlite"
        try await readers.read(isWhole: true) { try Migrations.checkReadOnly($0.connection, path: path) }
    }

    /// Queries on the writing connection, for use in a transaction.
    var queries: ArchiveQueries { ArchiveQueries(connection: connection) }
}

extension ArchiveQueries {
    func findings(in journal: Journal, of recording: Int) throws -> (damagedLines: Int, differs: Bool) {
        let (entries, damagedLines) = try journal.read(recording)
        let journaled = JournalRecord(entries).passes.map(\.orderedSegments)
        let stored = try passes(of: recording).map { try segments(ofPass: $0.id) }
        // Compares only texts and ranges, because the database returns NaN confidences as 0.
        let differs =
            !journaled.isEmpty
            && !(journaled.count == stored.count
                && zip(journaled, stored).allSatisfy { journaled, stored in
                    journaled.map(\.text) == stored.map(\.text) && journaled.map(\.range) == stored.map(\.range)
                })
        return (damagedLines, differs)
    }
}
