import Core
import FoundationEssentials
import System

/// The history of who did what. An entry is durable in the file before its transaction commits. A power cut between the
/// two leaves an entry only in the file.
extension SQLiteArchive {
    /// Adds an entry within the caller's transaction.
    ///
    /// - Parameter fill: Fills in the entry's fields.
    func addToHistory(_ act: HistoryEntry.Act, of recording: Int?, _ fill: (inout HistoryEntry) -> Void = { _ in })
        throws
    {
        // Ignores impossible numbers, which another program must have inserted.
        let last = try connection.rows(
            "SELECT number, line FROM history WHERE number < ? ORDER BY number DESC LIMIT 1",
            [.integer(HistoryEntry.numberLimit)]
        ) { (number: $0.integer(0), line: $0.text(1)) }.first
        let end = try historyEnd()
        let ownLast = try recording.flatMap { id in
            try connection.rows(
                "SELECT line FROM history WHERE recording = ? ORDER BY number DESC LIMIT 1", [.integer(id)]
            ) { $0.text(0) }.first
        }
        var entry = HistoryEntry(
            number: (last?.number ?? 0) + 1, recording: recording, act: act,
            time: Date(timeIntervalSince1970: MonotonicClock.wallSeconds.asWallTime).ISO8601Format(),
            clock: MonotonicClock.wallIsSynchronized ? .synchronized : .unverified, boot: Boot.id,
            sinceBoot: Int(Boot.nanoseconds / 1_000_000_000),
            before: last.map { Digest.of($0.line) } ?? HistoryEntry.initialDigest,
            own: ownLast.map { Digest.of($0) })
        fill(&entry)
        let line = try jsonText(entry)
        let newEnd = try history.append(Array(line.utf8), after: end)
        try insert(String(line.dropLast()), entry, end: newEnd)
    }

    /// The offset at which the database's last entry ends in the file.
    private func historyEnd() throws -> Int64 {
        try connection.rows("SELECT coalesce(max(end_bytes), 0) FROM history") { max(0, $0.integer64(0)) }.first ?? 0
    }

    private func insert(_ line: String, _ entry: HistoryEntry, end: Int64) throws {
        try connection.run(
            "INSERT INTO history (number, recording, act, line, end_bytes) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            .integer(entry.number), .optional(entry.recording.map { Int64($0) }), .text(entry.act.rawValue),
            .text(line),
            .integer(end))
    }

    /// Inserts the file's entries that are not in the database: all entries if the database is new, otherwise those
    /// that a power cut left uncommitted.
    func importHistory() throws {
        let end = try historyEnd()
        let found = try history.lines(from: end).map { (line: $0, entry: HistoryEntry(line: $0.text)) }
        guard found.contains(where: { $0.entry != nil }) else { return }
        try connection.transaction {
            for (line, entry) in found {
                if let entry { try insert(line.text, entry, end: line.end) }
            }
        }
    }

    /// SQL for the number of the last entry that changed a recording's samples. Redactions always count. Ends of
    /// recordings count only before the first signature, so that a repaired length does not cause another signature.
    private static func lastAudioChange(_ recording: String) -> String {
        """
        (SELECT max(entry.number) FROM history AS entry WHERE entry.recording = \(recording) AND (
            entry.act = '\(HistoryEntry.Act.redacted.rawValue)' OR entry.act = '\(HistoryEntry.Act.recorded.rawValue)'
            AND NOT EXISTS (
                SELECT 1 FROM history AS signing WHERE signing.recording = entry.recording AND \(isSignature))))
        """
    }

    private static let isSignature = "signing.act = '\(HistoryEntry.Act.signed.rawValue)'"

    /// Returns the recordings to sign: those that have ended and were never signed, or were redacted after they were
    /// signed. `entry` is the number of the history entry for the end or the redaction.
    package nonisolated func recordingsToSign() async throws -> [(recording: Int, entry: Int)] {
        try await readers.read { queries in
            try queries.connection.rows(
                """
                SELECT id, \(Self.lastAudioChange("recording.id")) AS last_change
                FROM recording WHERE state = 'present' AND length_samples > 0 AND \(ArchiveQueries.hasPossibleNumber)
                AND last_change > coalesce((
                    SELECT max(number) FROM history AS signing
                    WHERE signing.recording = recording.id AND \(Self.isSignature)), 0)
                ORDER BY id
                """
            ) { ($0.integer(0), $0.integer(1)) }
        }
    }

    /// Adds a recording's signature to the history.
    ///
    /// - Parameters:
    ///   - sound: The SHA-256 of the samples.
    ///   - entry: The entry number from `recordingsToSign()`. If the samples have changed since, nothing is added.
    package func addSignature(
        _ signature: String, sound: String, length: SamplePosition, of recording: Int, asOf entry: Int
    ) throws {
        try connection.transaction {
            let lastChange = try connection.rows("SELECT \(Self.lastAudioChange("?1"))", [.integer(recording)]) {
                $0.integer(0)
            }.first
            guard lastChange == entry, try queries.recording(recording)?.length == length else { return }
            try addToHistory(.signed, of: recording) {
                $0.sound = sound
                $0.length = length.seconds
                $0.signature = signature
            }
            if let owner = try journalOwner(of: recording) { try appendToJournal(owner, recording: recording) }
        }
    }

    package nonisolated func history(of recording: Int?) async throws -> [HistoryLine] {
        try await readers.read { try $0.history(of: recording) }
    }

    /// Returns what is wrong with the history; empty if it is complete and unchanged.
    package nonisolated func historyFindings() async throws -> [StorageFinding] {
        let file = history
        return try await readers.read { queries in
            // Reads the database first, because the file gets each entry before the database does.
            let rows = try queries.history(of: nil)
            do throws(DeviceError) {
                return HistoryCheck(file: file.path, rows: rows, fileLines: try file.lines().map(\.text)).findings
            } catch {
                return [StorageFinding(.damaged, error, at: file.path)]
            }
        }
    }

    /// If the history file is damaged and the database's hash chain is intact, sets the file aside and writes a new one
    /// from the database.
    ///
    /// - Returns: A clause about the old file, for the report; nil if nothing was done.
    package func repairHistory() throws -> String? {
        let rows = try queries.history(of: nil)
        var isDamaged = true
        if let fileLines = try? history.lines().map(\.text) {
            isDamaged = !HistoryCheck(file: history.path, rows: rows, fileLines: fileLines).findings.isEmpty
        }
        let databaseCheck = HistoryCheck(file: history.path, rows: rows, fileLines: rows.map(\.text))
        guard isDamaged, databaseCheck.findings.isEmpty else { return nil }
        let outcome =
            try history.exists
            ? "the previous file was kept as \(history.setAside())" : "the previous file was missing"
        try history.write(rows.map(\.text))
        try connection.transaction {
            var end: Int64 = 0
            for line in rows {
                end += Int64(line.text.utf8.count) + 1
                try connection.run(
                    "UPDATE history SET end_bytes = ?2 WHERE number = ?1", .integer(line.entry.number), .integer(end))
            }
            try addToHistory(.mended, of: nil)
        }
        return outcome
    }
}

extension ArchiveQueries {
    func history(of recording: Int?) throws -> [HistoryLine] {
        let lines =
            if let recording {
                try connection.rows(
                    "SELECT line FROM history WHERE recording = ? ORDER BY number", [.integer(recording)]
                ) { $0.text(0) }
            } else {
                try connection.rows("SELECT line FROM history ORDER BY number") { $0.text(0) }
            }
        return lines.compactMap { line in HistoryEntry(line: line).map { HistoryLine(text: line, entry: $0) } }
    }
}

extension HistoryEntry {
    /// Parses a line of the history. Returns nil if it is not a valid entry.
    init?(line: String) {
        guard let entry = try? decodedJSON(HistoryEntry.self, from: line.utf8),
            (1..<HistoryEntry.numberLimit).contains(entry.number)
        else { return nil }
        self = entry
    }
}
