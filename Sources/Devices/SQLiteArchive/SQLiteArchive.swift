import Core

/// The archive in a file of SQLite. While it is open nobody else can open it.
///
/// Every change is one transaction, and on the disk when its method returns.
package actor SQLiteArchive: Archive {
    private let queue = ArchiveQueue()
    let connection: Connection

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        // Safety: the actor owns the queue.
        queue.asUnownedSerialExecutor()
    }

    /// Opens the archive, or creates it and its folder, and brings it up to this version.
    ///
    /// - Throws: `DeviceError` with `busy` where somebody has it open, `damaged` where it is no database, `unsupported`
    ///   where it is a later version's or another program's, `denied`, `full`.
    package init(path: String) throws {
        try createParentFolder(of: path)
        let connection = try Connection(path: path)
        try Migrations.apply(to: connection, path: path)
        self.connection = connection
    }

    package func beginRecording(
        startedAt: Double, clock: RecordingSummary.Clock, microphone: String
    ) throws -> Int {
        try inserted(
            "INSERT INTO recording (started_at, clock, microphone) VALUES (?, ?, ?) RETURNING id",
            .real(startedAt), .text(clock.rawValue), .text(microphone))
    }

    package func endRecording(_ id: Int, length: SamplePosition, reason: StopReason) throws {
        let changed = try connection.run(
            "UPDATE recording SET length_samples = ?2, stop_reason = ?3 WHERE id = ?1",
            .integer(id), .position(length), .text(reason.rawValue))
        if changed == 0 { throw unknown(recording: id) }
        // What has ended shall not hang on the log: it is committed there, but so is everything else. Where this fails
        // nothing is lost, and the next ending tries again.
        try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    package func discard(recording id: Int) throws {
        // Never what was committed: a recording whose end could not be entered has no length either.
        try connection.run(
            """
            DELETE FROM recording WHERE id = ?1 AND length_samples = 0
            AND NOT EXISTS (SELECT 1 FROM pass WHERE recording = ?1)
            """, .integer(id))
    }

    package func beginPass(recording: Int, engine: EngineDescription, profile: String) throws -> Int {
        try inserted(
            "INSERT INTO pass (recording, engine, version, model, profile) VALUES (?, ?, ?, ?, ?) RETURNING id",
            .integer(recording), .text(engine.name), .text(engine.version), .text(engine.model), .text(profile))
    }

    package func commit(_ segment: Segment, pass: Int, recording: Int) throws {
        try connection.transaction {
            let known = try connection.run(
                """
                UPDATE recording SET transcribed_samples = max(transcribed_samples, ?2)
                WHERE id = ?1 AND EXISTS (SELECT 1 FROM pass WHERE id = ?3 AND recording = ?1)
                """,
                .integer(recording), .position(segment.range.end), .integer(pass))
            if known == 0 { throw unknown(recording: recording, pass: pass) }
            let row = try inserted(
                """
                INSERT INTO segment (pass, number, start_sample, end_sample, text, ended_by)
                VALUES (?, ?, ?, ?, ?, ?) RETURNING id
                """,
                .integer(pass), .integer(segment.id), .position(segment.range.start), .position(segment.range.end),
                .text(segment.text), .text(segment.endedBy.rawValue))
            for (number, word) in segment.words.enumerated() {
                try connection.run(
                    """
                    INSERT INTO word (segment, number, start_sample, end_sample, text, confidence)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """,
                    .integer(row), .integer(number + 1), .position(word.range.start), .position(word.range.end),
                    .text(word.text), .real(word.confidence))
            }
            for (number, alternative) in segment.alternatives.enumerated() {
                try connection.run(
                    "INSERT INTO alternative (segment, number, text, confidence) VALUES (?, ?, ?, ?)",
                    .integer(row), .integer(number + 1), .text(alternative.text), .real(alternative.confidence))
            }
        }
    }

    package func transcribed(upTo position: SamplePosition, recording: Int) throws {
        let changed = try connection.run(
            "UPDATE recording SET transcribed_samples = max(transcribed_samples, ?2) WHERE id = ?1",
            .integer(recording), .position(position))
        if changed == 0 { throw unknown(recording: recording) }
    }

    package func add(_ gap: Gap, recording: Int) throws {
        try connection.run(
            "INSERT INTO gap (recording, start_sample, end_sample, cause) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            .integer(recording), .position(gap.range.start), .position(gap.range.end), .text(gap.cause.rawValue))
    }

    package func add(_ mark: Mark, recording: Int) throws {
        try connection.run(
            "INSERT INTO mark (recording, sample, text) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            .integer(recording), .position(mark.position), .text(mark.text))
    }

    /// Runs an INSERT that returns its row's id.
    private func inserted(_ sql: String, _ values: SQLValue...) throws(DeviceError) -> Int {
        try connection.rows(sql, values) { $0.integer(0) }.first ?? 0
    }

    private func unknown(recording: Int, pass: Int? = nil) -> DeviceError {
        DeviceError(
            .missing, "UPDATE recording",
            "recording \(recording)\(pass.map { ", pass \($0)" } ?? ""): not in the archive; see fieldscribe list")
    }
}
