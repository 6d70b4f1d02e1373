import Core

/// Creates the archive's tables, checks the schema of an existing file, and upgrades it.
enum Migrations {
    /// "FSCR", the application ID in the header of our files.
    private static let applicationID = 0x4653_4352

    /// The version of `schema`.
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
        // A newer version changes the header and `house` in one transaction. If they differ, bits have flipped.
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

    /// Compares the schema with its recorded checksum before any table is read: a view in place of a table may never
    /// end, and a trigger may do anything.
    ///
    /// - Throws: `DeviceError` with `damaged` if they differ.
    private static func checkSchema(of connection: Connection, path: String) throws(DeviceError) {
        let recorded =
            try hasHouse(connection) ? connection.rows("SELECT schema FROM house LIMIT 1") { $0.text(0) } : []
        guard recorded == [try schemaChecksum(of: connection)] else { throw damage("PRAGMA schema_version", path) }
    }

    private static func damage(_ operation: String, _ path: String) -> DeviceError {
        DeviceError(
            .damaged, operation, "\(path): the database is damaged; run fieldscribe recover, which rebuilds it")
    }

    private static func hasHouse(_ connection: Connection) throws(DeviceError) -> Bool {
        try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'house' AND type = 'table'") == 1
    }

    /// Returns a checksum of the schema's text. SQLite does not report a flipped bit in it as damage, but as other
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
    static func checkReading(_ connection: Connection, path: String) throws {
        // Reading the index makes FTS5 notice changes by other connections. Since SQLite 3.44 integrity_check reads the
        // index too, but by FTS5's cached state, and reports the differences as damage.
        _ = try connection.number("SELECT count(*) FROM (SELECT 1 FROM segment_text LIMIT 1)")
        try checkTables(connection, path: path)
        do throws(DeviceError) {
            // The sum reads every word in the index. SQLite does not allow a comparison with the segments here, because
            // it counts as a write.
            _ = try connection.number("SELECT sum(cnt) FROM temp.index_words")
            let isWhole = try connection.number(
                "SELECT (SELECT count(*) FROM segment) = (SELECT count(*) FROM segment_text_docsize)")
            if isWhole == 1 { return }
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
            throw damage("PRAGMA integrity_check", path)
        }
    }

    /// The tables of schema version `version`. Times are in samples since the recording's start, at 16,000 per second.
    private static let schema = """
        CREATE TABLE recording (
            id INTEGER PRIMARY KEY AUTOINCREMENT,   -- names a folder, so SQLite must not reuse it
            started_at REAL NOT NULL,               -- seconds since 1970-01-01T00:00:00Z
            clock TEXT NOT NULL,                    -- synchronized, unverified
            boot_id TEXT,
            monotonic_ns INTEGER,
            microphone TEXT NOT NULL,
            length_samples INTEGER NOT NULL DEFAULT 0,
            transcribed_samples INTEGER NOT NULL DEFAULT 0,
            stop_reason TEXT NOT NULL DEFAULT 'cut short',
            state TEXT NOT NULL DEFAULT 'present',  -- present, missing (its audio), sealed ...
            journal_bytes INTEGER NOT NULL DEFAULT 0,   -- the journal's length after the last change
            has_speakers INTEGER NOT NULL DEFAULT 0     -- 1: speakers were identified
        ) STRICT;
        CREATE INDEX recording_of_boot ON recording (boot_id);

        -- One transcription of a recording, by an engine or a person.
        CREATE TABLE pass (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            recording INTEGER NOT NULL REFERENCES recording ON DELETE CASCADE,
            engine TEXT NOT NULL,
            version TEXT NOT NULL,
            model TEXT NOT NULL,
            profile TEXT NOT NULL,
            complete INTEGER NOT NULL DEFAULT 0,
            channel TEXT,                           -- AdaptationState as JSON, or NULL
            correction TEXT                         -- Correction as JSON if a person wrote it, else NULL
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
            pitch REAL,                             -- Hz; the voice's four figures are all present or all NULL
            jitter REAL,
            shimmer REAL,
            voicing REAL,                           -- the share of voiced frames, 0 to 1
            final_lowering REAL,                    -- semitones, or NULL
            UNIQUE (pass, number)
        ) STRICT;

        CREATE TABLE word (
            segment INTEGER NOT NULL REFERENCES segment ON DELETE CASCADE,
            number INTEGER NOT NULL,
            start_sample INTEGER NOT NULL,
            end_sample INTEGER NOT NULL CHECK (end_sample >= start_sample),
            text TEXT NOT NULL,
            confidence REAL,                        -- NULL for NaN
            is_spread INTEGER NOT NULL DEFAULT 0,   -- 1: its times are an estimate
            PRIMARY KEY (segment, number)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE alternative (
            segment INTEGER NOT NULL REFERENCES segment ON DELETE CASCADE,
            number INTEGER NOT NULL,
            text TEXT NOT NULL,
            confidence REAL,
            PRIMARY KEY (segment, number)
        ) STRICT, WITHOUT ROWID;

        -- Unique, so that adding the same gap or bookmark again after a restart changes nothing.
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

        -- Who speaks when, for every pass: a word belongs to the speaker whose turn it falls in.
        CREATE TABLE turn (
            recording INTEGER NOT NULL REFERENCES recording ON DELETE CASCADE,
            start_sample INTEGER NOT NULL,
            end_sample INTEGER NOT NULL CHECK (end_sample >= start_sample),
            speaker INTEGER NOT NULL,               -- 0, 1 ... by their first turn
            PRIMARY KEY (recording, start_sample)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE export (
            id INTEGER PRIMARY KEY,
            recording INTEGER NOT NULL REFERENCES recording ON DELETE CASCADE,
            pass INTEGER,
            volume TEXT NOT NULL,
            folder TEXT NOT NULL,
            manifest TEXT NOT NULL,
            exported_at REAL NOT NULL               -- seconds since 1970-01-01T00:00:00Z
        ) STRICT;
        CREATE INDEX export_of_recording ON export (recording);
        CREATE INDEX export_to_volume ON export (volume);

        -- Which recordings were erased and when, but none of their content.
        CREATE TABLE erasure (
            recording INTEGER NOT NULL,
            erased_at REAL NOT NULL
        ) STRICT;

        -- The lines of history.jsonl, and the offset at which each ends there. Erasing a recording keeps its lines.
        CREATE TABLE history (
            number INTEGER PRIMARY KEY,
            recording INTEGER,
            act TEXT NOT NULL,
            line TEXT NOT NULL,
            end_bytes INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX history_of_recording ON history (recording, act);
        CREATE INDEX history_end ON history (end_bytes);

        -- One row: the version that the header also has, and a checksum of the schema.
        CREATE TABLE house (
            version INTEGER NOT NULL,
            schema TEXT NOT NULL
        ) STRICT;
        INSERT INTO house VALUES (0, '');

        -- An apostrophe separates tokens. The search requires a word's tokens to be adjacent, so that don't finds don't
        -- with either kind of apostrophe.
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
