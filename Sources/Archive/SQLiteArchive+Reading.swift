import Core

/// What is read of the archive goes over connections of its own: it waits for nothing that is written, nor does that wait for
/// it. A cancelled task ends its reading.
extension SQLiteArchive {
    package nonisolated func recordings() async throws -> [RecordingSummary] {
        try await readers.read { try $0.recordings() }
    }

    /// A recording's row; nil where there is none.
    package nonisolated func recording(_ id: Int) async throws -> RecordingSummary? {
        try await readers.read { try $0.recording(id) }
    }

    /// Where a recording lost audio, in the order of time.
    package nonisolated func gaps(of recording: Int) async throws -> [Gap] {
        try await readers.read { try $0.gaps(of: recording) }
    }

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

    package nonisolated func withoutSpeakers() async throws -> [RecordingSummary] {
        try await readers.read { try $0.withoutSpeakers() }
    }

    package nonisolated func exports(to volume: String) async throws -> [ExportEntry] {
        try await readers.read { try $0.exports(to: volume) }
    }

    package nonisolated func exports(of recording: Int) async throws -> [ExportEntry] {
        try await readers.read { try $0.exports(of: recording) }
    }

    /// How many lines of a recording's journal are damaged, and whether it tells another text than the database.
    package nonisolated func journalFindings(of recording: Int) async throws -> (damagedLines: Int, differs: Bool) {
        let journal = journal
        return try await readers.read { try $0.findings(in: journal, of: recording) }
    }

    /// SHA-256 of a recording's samples that was signed, as its journal has it; nil if that does not tell.
    package nonisolated func journalSound(of recording: Int) async throws -> String? {
        let journal = journal
        return try await readers.read { _ in JournalRecord(try journal.read(recording).entries).owner.sound }
    }

    /// Reads the whole database for damage.
    ///
    /// - Throws: `DeviceError` with `damaged`.
    package nonisolated func check() async throws {
        let path = "\(journal.storage.path)/archive.sqlite"
        try await readers.read(isWhole: true) { try Migrations.checkReading($0.connection, path: path) }
    }

    /// What is asked of the archive in the midst of a change.
    var queries: ArchiveQueries { ArchiveQueries(connection: connection) }
}

extension ArchiveQueries {
    func findings(in journal: Journal, of recording: Int) throws -> (damagedLines: Int, differs: Bool) {
        let (entries, damagedLines) = try journal.read(recording)
        let told = JournalRecord(entries).passes.map(\.ordered)
        let kept = try passes(of: recording).map { try segments(ofPass: $0.id) }
        // A confidence that is no number comes back from the database as 0.
        let differs =
            !told.isEmpty
            && !(told.count == kept.count
                && zip(told, kept).allSatisfy { told, kept in
                    told.map(\.text) == kept.map(\.text) && told.map(\.range) == kept.map(\.range)
                })
        return (damagedLines, differs)
    }
}
