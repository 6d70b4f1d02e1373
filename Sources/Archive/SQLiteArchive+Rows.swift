import Core
import FoundationEssentials
import System

/// These methods insert rows within the caller's transaction. The caller writes the journal.
extension SQLiteArchive {
    func insert(_ start: JournalRecord.Start, id: Int) throws {
        try connection.run(
            """
            INSERT INTO recording (id, started_at, clock, microphone, boot_id, monotonic_ns) VALUES (?, ?, ?, ?, ?, ?)
            """, .integer(id), .real(start.startedAt), .text(start.clock.rawValue), .text(start.microphone),
            .optional(start.boot), .optional(start.monotonic))
    }

    func insertPass(_ engine: EngineDescription, profile: String, recording: Int) throws -> Int {
        try connection.number(
            "INSERT INTO pass (recording, engine, version, model, profile) VALUES (?, ?, ?, ?, ?) RETURNING id",
            .integer(recording), .text(engine.name), .text(engine.version), .text(engine.model), .text(profile))
    }

    /// Inserts a person's complete pass with its segments. Returns the row ID of the pass.
    func insert(_ correction: Correction, _ segments: [Segment], recording: Int) throws -> Int {
        let id = try connection.number(
            """
            INSERT INTO pass (recording, engine, version, model, profile, complete, correction)
            VALUES (?, ?, ?, ?, ?, 1, ?) RETURNING id
            """,
            .integer(recording), .text(correction.engine.name), .text(correction.engine.version),
            .text(correction.engine.model), .text(EngineDescription.person), .text(try correction.json()))
        for segment in segments { try insert(segment, pass: id, recording: recording) }
        return id
    }

    func insert(_ segment: Segment, pass: Int, recording: Int) throws {
        let count = try connection.run(
            """
            UPDATE recording SET transcribed_samples = max(transcribed_samples, ?2)
            WHERE id = ?1 AND EXISTS (SELECT 1 FROM pass WHERE id = ?3 AND recording = ?1)
            """,
            .integer(recording), .position(segment.range.end), .integer(pass))
        if count == 0 { throw notFound(recording: recording, pass: pass) }
        let row = try connection.number(
            """
            INSERT INTO segment
                (pass, number, start_sample, end_sample, text, ended_by, pitch, jitter, shimmer, voicing,
                final_lowering)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
            """,
            .integer(pass), .integer(segment.id), .position(segment.range.start), .position(segment.range.end),
            .text(segment.text), .text(segment.endedBy.rawValue), .optional(segment.voice?.pitch),
            .optional(segment.voice?.jitter), .optional(segment.voice?.shimmer), .optional(segment.voice?.voicing),
            .optional(segment.voice?.finalLowering))
        for (number, word) in segment.words.enumerated() {
            try connection.run(
                """
                INSERT INTO word (segment, number, start_sample, end_sample, text, confidence, is_spread)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                .integer(row), .integer(number + 1), .position(word.range.start), .position(word.range.end),
                .text(word.text), .real(word.confidence), .integer(word.hasEstimatedTime ? 1 : 0))
        }
        for (number, alternative) in segment.alternatives.enumerated() {
            try connection.run(
                "INSERT INTO alternative (segment, number, text, confidence) VALUES (?, ?, ?, ?)",
                .integer(row), .integer(number + 1), .text(alternative.text), .real(alternative.confidence))
        }
    }

    /// - Returns: Whether the row was new.
    func insert(_ gap: Gap, recording: Int) throws -> Bool {
        try connection.run(
            "INSERT INTO gap (recording, start_sample, end_sample, cause) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            .integer(recording), .position(gap.range.start), .position(gap.range.end), .text(gap.cause.rawValue)) > 0
    }

    /// - Returns: Whether the row was new.
    func insert(_ mark: Bookmark, recording: Int) throws -> Bool {
        try connection.run(
            "INSERT INTO mark (recording, sample, text) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            .integer(recording), .position(mark.position), .text(mark.text)) > 0
    }

    /// Replaces a recording's speaker turns. Returns 1, or 0 if there is no such recording.
    @discardableResult
    func replace(_ speakers: Speakers, recording: Int) throws -> Int {
        let count = try connection.run("UPDATE recording SET has_speakers = 1 WHERE id = ?", .integer(recording))
        guard count > 0 else { return 0 }
        try connection.run("DELETE FROM turn WHERE recording = ?", .integer(recording))
        for turn in speakers.all {
            try connection.run(
                "INSERT INTO turn (recording, start_sample, end_sample, speaker) VALUES (?, ?, ?, ?)",
                .integer(recording), .position(turn.range.start), .position(turn.range.end), .integer(turn.speaker))
        }
        return count
    }

    func insert(_ entry: ExportEntry) throws {
        try connection.run(
            """
            INSERT INTO export (recording, pass, volume, folder, manifest, exported_at) VALUES (?, ?, ?, ?, ?, ?)
            """,
            .integer(entry.recording), .optional(entry.pass.map { Int64($0) }), .text(entry.volume),
            .text(entry.folder), .text(entry.manifest), .real(entry.exportedAt))
    }
}

extension AdaptationState {
    /// The state as JSON; nil if a value is not a number.
    var json: String? { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } }
}

extension Correction {
    func json() throws -> String { String(try jsonText(self).dropLast()) }
}
