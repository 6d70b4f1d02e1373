import Core

/// Creates the archive's tables, checks the schema of an existing file, and upgrades it.
enum Migrations {
    /// "FSCR", the application ID in the header of our files.
    private static let applicationID = 0x4653_4352

    static let version = 1

    /// The version that builds before 1.0 wrote, with the same tables as version 1. A later schema must skip this
    /// number.
    private static let versionBefore1 = 11

    /// Creates the tables in an empty file, or upgrades an archive to this version, in one transaction.
    ///
    /// - Throws: `DeviceError` with `unsupported` if a newer version or another program wrote the file, `damaged` if
    ///   its header or schema is damaged.
    static func apply(to connection: Connection, path: String) throws {
        let version = try connection.number("PRAGMA user_version")
        let owner = try connection.number("PRAGMA application_id")
        let recorded: Int? = try hasHouse(connection) ? connection.number("SELECT version FROM house") : nil
        // Every version changes the header and `house` in one transaction. If they differ, or one or two bits of the
        // application ID are wrong, bits have flipped.
        let isDamaged = recorded.map {
            owner == applicationID ? version != $0 : (owner ^ applicationID).nonzeroBitCount <= 2
        }
        if version < 0 || isDamaged == true {
            throw DeviceError(
                .damaged, "PRAGMA user_version",
                "\(path): the database's header is damaged; run fieldscribe recover, which rebuilds it")
        }
        let isForeign =
            if owner == 0 && version == 0 {
                try connection.number("SELECT count(*) FROM sqlite_schema") > 0
            } else {
                owner != applicationID
            }
        if isForeign {
            throw DeviceError(
                .unsupported, "PRAGMA application_id", cause: .foreignDatabase,
                "\(path): is another program's database; run fieldscribe recover, which sets it aside, or choose "
                    + "another archive")
        }
        if version > Self.version, version != versionBefore1 {
            throw DeviceError(
                .unsupported, "PRAGMA user_version",
                "\(path): was written by a newer fieldscribe (schema \(version), this one knows \(Self.version)); "
                    + "update fieldscribe")
        }
        if version > 0 { try checkSchema(of: connection, path: path) }
        if version == Self.version { return }
        try connection.transaction {
            if version == 0 { try connection.execute(schema) }
            try connection.execute("PRAGMA user_version = \(Self.version); PRAGMA application_id = \(applicationID)")
            try connection.run(
                "UPDATE house SET version = ?, schema = ?", .integer(Self.version),
                .text(try schemaChecksum(of: connection)))
        }
    }

    /// Checks that this version can read a database that it must not change.
    ///
    /// - Throws: `DeviceError` with `unsupported` if it cannot, `damaged` if the schema is damaged.
    static func checkVersion(of connection: Connection, path: String) throws(DeviceError) {
        let version = try connection.number("PRAGMA user_version")
        let owner = try connection.number("PRAGMA application_id")
        guard owner == applicationID, [Self.version, versionBefore1].contains(version) else {
            throw DeviceError(
                .unsupported, "PRAGMA user_version",
                owner == applicationID
                    ? "\(path): was written by another version of fieldscribe (schema \(version), this one reads "
                        + "\(Self.version)); update fieldscribe"
                    : "\(path): is another program's database; choose another archive")
        }
        try checkSchema(of: connection, path: path)
    }

    /// Compares the schema with its recorded checksum before any table is read. In a changed schema, a view in place of
    /// a table could return rows forever, and a trigger could do anything.
    ///
    /// - Throws: `DeviceError` with `damaged` if they differ.
    private static func checkSchema(of connection: Connection, path: String) throws(DeviceError) {
        let recorded =
            try hasHouse(connection) ? connection.rows("SELECT schema FROM house LIMIT 1") { $0.text(0) } : []
        guard recorded == [try schemaChecksum(of: connection)] else { throw damageError("PRAGMA schema_version", path) }
    }

    private static func damageError(_ operation: String, _ path: String) -> DeviceError {
        DeviceError(
            .damaged, operation, "\(path): the database is damaged; run fieldscribe recover, which rebuilds it")
    }

    private static func hasHouse(_ connection: Connection) throws(DeviceError) -> Bool {
        try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'house' AND type = 'table'") == 1
    }

    /// Returns a checksum of the schema's text. SQLite reports a flipped bit in this text not as damage, but with other
    /// errors.
    private static func schemaChecksum(of connection: Connection) throws(DeviceError) -> String {
        let lines = try connection.rows(
            "SELECT type || name || coalesce(sql, '') FROM sqlite_schema ORDER BY type, name"
        ) { $0.text(0) }
        return CRC32.text(of: lines.joined(separator: "\n").utf8)
    }

    /// Checks the whole file for damage. Rebuilds the full-text index if only the index is damaged.
    ///
    /// - Throws: `DeviceError` with `damaged` if anything else is damaged.
    static func check(_ connection: Connection, path: String) throws {
        // Checks the index first: since SQLite 3.44, integrity_check reports a damaged index as a damaged database.
        do throws(DeviceError) {
            // Rank 1 also compares the index with the segments.
            try connection.execute("INSERT INTO segment_text (segment_text, rank) VALUES ('integrity-check', 1)")
        } catch {
            guard error.code == .damaged else { throw error }
            try connection.execute("INSERT INTO segment_text (segment_text) VALUES ('rebuild')")
        }
        try checkTables(connection, path: path)
    }

    /// Checks the whole file for damage through a read-only connection.
    ///
    /// - Throws: `DeviceError` with `damaged` if anything is damaged.
    static func checkReadOnly(_ connection: Connection, path: String) throws {
        // Reading the index first makes FTS5 notice changes by other connections. Since SQLite 3.44, integrity_check
        // compares the index with FTS5's cached state and would report those changes as damage.
        _ = try connection.number("SELECT count(*) FROM (SELECT 1 FROM segment_text LIMIT 1)")
        try checkTables(connection, path: path)
        do throws(DeviceError) {
            // The sum reads every word in the index. FTS5's own comparison with the segments is not possible here,
            // because it counts as a write.
            _ = try connection.number("SELECT sum(cnt) FROM temp.index_words")
            let isComplete = try connection.number(
                "SELECT (SELECT count(*) FROM segment) = (SELECT count(*) FROM segment_text_docsize)")
            if isComplete == 1 { return }
        } catch {
            guard error.code == .damaged else { throw error }
        }
        throw DeviceError(
            .damaged, "fts5vocab",
            "\(path): the full-text index is damaged; run fieldscribe recover, which rebuilds it")
    }

    private static func checkTables(_ connection: Connection, path: String) throws {
        // quick_check does not compare indexes with tables, and a flipped bit in an index can hide rows.
        let findings = try connection.rows("PRAGMA integrity_check(1)") { $0.text(0) }
        let recorded = try connection.rows("SELECT schema FROM house") { $0.text(0) }
        guard findings == ["ok"], recorded == [try schemaChecksum(of: connection)] else {
            throw damageError("PRAGMA integrity_check", path)
        }
    }

    /// The tables of schema version `version`. Positions and lengths are in samples, at 16,000 per second. The columns
    /// `started_at`, `exported_at` and `erased_at` are in seconds since 1970-01-01T00:00:00Z.
    ///
    /// - `recording`: The ID names a folder, so SQLite must not reuse it (AUTOINCREMENT). `state` is `present`,
    ///   `missing` (the audio) or a `SealedManifest.text`. `journal_bytes` is the journal's length in bytes.
    /// - `pass`: A transcription by an engine or a person. `channel` is an `AdaptationState` as JSON, `correction` a
    ///   `Correction` as JSON; each may be NULL.
    /// - `segment`: `pitch` is in Hz, `voicing` the share of voiced frames from 0 to 1, `final_lowering` in semitones.
    ///   `pitch`, `jitter`, `shimmer` and `voicing` are all present or all NULL.
    /// - `word`: `confidence` is NULL for NaN. `is_spread` is 1 if the word's times are estimates.
    /// - `gap`, `mark`: Unique, so that adding the same gap or bookmark again after a restart changes nothing.
    /// - `turn`: Who speaks when, for every pass. A word belongs to the speaker in whose turn it is. Speakers are
    ///   numbered from 0; 0 has the label `A`.
    /// - `history`: The lines of `history.jsonl`, and the offset at which each ends in it. Erasing a recording keeps
    ///   its lines.
    /// - `house`: One row with the version, which the header also has, and a checksum of the schema.
    /// - `segment_text`: An apostrophe separates tokens. The search requires a word's tokens to be adjacent, so that
    ///   "don't" is found with either kind of apostrophe.
    private static let schema = """
        CREATE TABLE recording (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            started_at REAL NOT NULL,
            clock TEXT NOT NULL,
            boot_id TEXT,
            monotonic_ns INTEGER,
            microphone TEXT NOT NULL,
            length_samples INTEGER NOT NULL DEFAULT 0,
            transcribed_samples INTEGER NOT NULL DEFAULT 0,
            stop_reason TEXT NOT NULL DEFAULT 'cut short',
            state TEXT NOT NULL DEFAULT 'present',
            journal_bytes INTEGER NOT NULL DEFAULT 0,
            has_speakers INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX recording_of_boot ON recording (boot_id);

        CREATE TABLE pass (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            recording INTEGER NOT NULL REFERENCES recording ON DELETE CASCADE,
            engine TEXT NOT NULL,
            version TEXT NOT NULL,
            model TEXT NOT NULL,
            profile TEXT NOT NULL,
            complete INTEGER NOT NULL DEFAULT 0,
            channel TEXT,
            correction TEXT
        ) STRICT;
        CREATE INDEX pass_of_recording ON pass (recording);

        CREATE TABLE segment (
            id INTEGER PRIMARY KEY,
            pass INTEGER NOT NULL REFERENCES pass ON DELETE CASCADE,
            number INTEGER NOT NULL,
            start_sample INTEGER NOT NULL,
            end_sample INTEGER NOT NULL CHECK (end_sample >= start_sample),
            text TEXT NOT NULL,
            ended_by TEXT NOT NULL,
            pitch REAL,
            jitter REAL,
            shimmer REAL,
            voicing REAL,
            final_lowering REAL,
            UNIQUE (pass, number)
        ) STRICT;

        CREATE TABLE word (
            segment INTEGER NOT NULL REFERENCES segment ON DELETE CASCADE,
            number INTEGER NOT NULL,
            start_sample INTEGER NOT NULL,
            end_sample INTEGER NOT NULL CHECK (end_sample >= start_sample),
            text TEXT NOT NULL,
            confidence REAL,
            is_spread INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (segment, number)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE alternative (
            segment INTEGER NOT NULL REFERENCES segment ON DELETE CASCADE,
            number INTEGER NOT NULL,
            text TEXT NOT NULL,
            confidence REAL,
            PRIMARY KEY (segment, number)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE gap (
            id INTEGER PRIMARY KEY,
            recording INTEGER NOT NULL REFERENCES recording ON DELETE CASCADE,
            start_sample INTEGER NOT NULL,
            end_sample INTEGER NOT NULL CHECK (end_sample >= start_sample),
            cause TEXT NOT NULL,
            UNIQUE (recording, start_sample, end_sample, cause)
        ) STRICT;

        CREATE TABLE mark (
            id INTEGER PRIMARY KEY,
            recording INTEGER NOT NULL REFERENCES recording ON DELETE CASCADE,
            sample INTEGER NOT NULL,
            text TEXT NOT NULL,
            UNIQUE (recording, sample, text)
        ) STRICT;

        CREATE TABLE turn (
            recording INTEGER NOT NULL REFERENCES recording ON DELETE CASCADE,
            start_sample INTEGER NOT NULL,
            end_sample INTEGER NOT NULL CHECK (end_sample >= start_sample),
            speaker INTEGER NOT NULL,
            PRIMARY KEY (recording, start_sample)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE export (
            id INTEGER PRIMARY KEY,
            recording INTEGER NOT NULL REFERENCES recording ON DELETE CASCADE,
            pass INTEGER,
            volume TEXT NOT NULL,
            folder TEXT NOT NULL,
            manifest TEXT NOT NULL,
            exported_at REAL NOT NULL
        ) STRICT;
        CREATE INDEX export_of_recording ON export (recording);
        CREATE INDEX export_to_volume ON export (volume);

        CREATE TABLE erasure (
            recording INTEGER NOT NULL,
            erased_at REAL NOT NULL
        ) STRICT;

        CREATE TABLE history (
            number INTEGER PRIMARY KEY,
            recording INTEGER,
            act TEXT NOT NULL,
            line TEXT NOT NULL,
            end_bytes INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX history_of_recording ON history (recording, act);
        CREATE INDEX history_end ON history (end_bytes);

        CREATE TABLE house (
            version INTEGER NOT NULL,
            schema TEXT NOT NULL
        ) STRICT;
        INSERT INTO house VALUES (0, '');

        CREATE VIRTUAL TABLE segment_text USING fts5 (
            text, content = 'segment', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
        );
        CREATE TRIGGER segment_is_indexed AFTER INSERT ON segment BEGIN
            INSERT INTO segment_text (rowid, text) VALUES (NEW.id, NEW.text);
        END;
        CREATE TRIGGER segment_leaves_index AFTER DELETE ON segment BEGIN
            INSERT INTO segment_text (segment_text, rowid, text) VALUES ('delete', OLD.id, OLD.text);
        END;

        CREATE TRIGGER segments_are_in_order BEFORE INSERT ON segment
        WHEN EXISTS (
            SELECT 1 FROM (SELECT number, end_sample FROM segment WHERE pass = NEW.pass ORDER BY number DESC LIMIT 1) AS last
            WHERE NEW.number <= last.number OR NEW.start_sample < last.end_sample
        ) BEGIN
            SELECT RAISE(ABORT, 'a segment overlaps or precedes the last one of its pass');
        END;
        CREATE TRIGGER segment_never_changes BEFORE UPDATE ON segment BEGIN
            SELECT RAISE(ABORT, 'a committed segment never changes');
        END;
        CREATE TRIGGER word_never_changes BEFORE UPDATE ON word BEGIN
            SELECT RAISE(ABORT, 'a committed segment never changes');
        END;
        CREATE TRIGGER alternative_never_changes BEFORE UPDATE ON alternative BEGIN
            SELECT RAISE(ABORT, 'a committed segment never changes');
        END;
        """
}
