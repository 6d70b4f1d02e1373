import Core

/// Brings the file's schema up to this version's.
enum Migrations {
    /// "FSCR": tells our files from those of other programs.
    private static let application = 0x4653_4352

    private static let foreignOperation = "PRAGMA application_id"

    /// Whether an error says that the database is another program's; a later version's is not.
    static func isForeign(_ error: DeviceError) -> Bool {
        error.code == .unsupported && error.operation == foreignOperation
    }

    /// Applies what is missing, all of it or nothing.
    ///
    /// - Throws: `DeviceError` with `unsupported` where the file is of a later version or another program's.
    static func apply(to connection: Connection, path: String) throws {
        let version = try connection.number("PRAGMA user_version")
        let owner = try connection.number("PRAGMA application_id")
        let witness = try witnessedVersion(of: connection)
        if version < 0 || witness.map({ isDamaged(version: version, owner: owner, witness: $0) }) == true {
            throw DeviceError(
                .damaged, "PRAGMA user_version",
                "\(path): the database's header is damaged; run fieldscribe recover, which rebuilds it")
        }
        let isForeign =
            if owner == 0 && version == 0 {
                try connection.number("SELECT count(*) FROM sqlite_schema") > 0
            } else {
                owner != application
            }
        if isForeign {
            throw DeviceError(
                .unsupported, foreignOperation,
                "\(path): another program's database; run fieldscribe recover, which sets it aside, or name another "
                    + "archive")
        }
        if version > steps.count {
            throw DeviceError(
                .unsupported, "PRAGMA user_version",
                "\(path): written by a newer fieldscribe (schema \(version), this one knows \(steps.count)); update fieldscribe"
            )
        }
        guard version < steps.count else { return try checkSchema(of: connection, path: path) }
        // In one transaction: every page is written once, however many steps touch it.
        try connection.transaction {
            for step in steps[version...] { try connection.execute(step) }
            try connection.execute("PRAGMA user_version = \(steps.count); PRAGMA application_id = \(application)")
            try connection.run(
                "UPDATE house SET version = ?, schema = ?", .integer(steps.count),
                .text(try schemaChecksum(of: connection)))
        }
    }

    /// Looks whether a database that cannot be brought up to this version is of it.
    ///
    /// - Throws: `DeviceError` with `unsupported`.
    static func checkVersion(of connection: Connection, path: String) throws(DeviceError) {
        let version = try connection.number("PRAGMA user_version")
        let owner = try connection.number("PRAGMA application_id")
        guard owner == application, version == steps.count else {
            throw DeviceError(
                .unsupported, "PRAGMA user_version",
                owner == application
                    ? "\(path): written by another version of fieldscribe (schema \(version), this one reads \(steps.count)), and cannot be "
                        + "updated here; open it once where it can be written"
                    : "\(path): another program's database; name another archive")
        }
        try checkSchema(of: connection, path: path)
    }

    /// Compares the file's tables with what it says of them, before anything is read: a view in a table's place may never end, and a
    /// trigger may do anything.
    ///
    /// - Throws: `DeviceError` with `damaged`.
    private static func checkSchema(of connection: Connection, path: String) throws(DeviceError) {
        let isTable =
            try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'house' AND type = 'table'") == 1
        let kept = isTable ? try connection.rows("SELECT schema FROM house LIMIT 1") { $0.text(0) } : []
        guard kept == [try schemaChecksum(of: connection)] else { throw damage("PRAGMA schema_version", path) }
    }

    private static func damage(_ operation: String, _ path: String) -> DeviceError {
        DeviceError(
            .damaged, operation, "\(path): the database is damaged; run fieldscribe recover, which rebuilds it")
    }

    /// The version from which on the file says twice what it is.
    private static let witnessed = 3

    /// The version that a table tells, beside the one in the header; nil where there is no such table.
    private static func witnessedVersion(of connection: Connection) throws -> Int? {
        guard try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'house' AND type = 'table'") == 1
        else { return nil }
        return try connection.number("SELECT version FROM house")
    }

    /// Whether the header is ours with flipped bits, and not a later version's or another program's.
    ///
    /// A later version says so in both places, which it changes in one transaction.
    private static func isDamaged(version: Int, owner: Int, witness: Int) -> Bool {
        if owner != application, (owner ^ application).nonzeroBitCount <= 2 { return true }
        return owner == application && witness >= witnessed && version != witness
    }

    /// What the file says of its own tables, shortened to a checksum: a bit that flips there makes other errors than
    /// damage.
    private static func schemaChecksum(of connection: Connection) throws(DeviceError) -> String {
        let lines = try connection.rows(
            "SELECT type || name || coalesce(sql, '') FROM sqlite_schema ORDER BY type, name"
        ) { $0.text(0) }
        return CRC32.text(of: lines.joined(separator: "\n").utf8)
    }

    /// Reads the whole file for damage, and makes the full-text index anew where only that is wrong.
    ///
    /// - Throws: `DeviceError` with `damaged`.
    static func check(_ connection: Connection, path: String) throws {
        // The index first: from SQLite 3.44 on quick_check calls the whole database damaged where only that is.
        do throws(DeviceError) {
            // The rank asks for a comparison with the segments as well.
            try connection.execute("INSERT INTO segment_text (segment_text, rank) VALUES ('integrity-check', 1)")
        } catch {
            guard error.code == .damaged else { throw error }
            try connection.execute("INSERT INTO segment_text (segment_text) VALUES ('rebuild')")
        }
        try checkTables(connection, path: path)
    }

    /// Reads the whole file for damage over a connection that only reads.
    ///
    /// - Throws: `DeviceError` with `damaged`.
    static func checkReading(_ connection: Connection, path: String) throws {
        // A reading of the index is what has FTS5 look whether another connection has changed it. From SQLite 3.44 on quick_check
        // reads it, too, but by what it knew of the index before, and calls what it finds damaged.
        _ = try connection.number("SELECT count(*) FROM (SELECT 1 FROM segment_text LIMIT 1)")
        try checkTables(connection, path: path)
        do throws(DeviceError) {
            // Every word of the index is read for it. A comparison with each segment would be a change to SQLite.
            _ = try connection.number("SELECT sum(cnt) FROM temp.index_words")
            let counts = try connection.rows(
                "SELECT (SELECT count(*) FROM segment), (SELECT count(*) FROM segment_text_docsize)"
            ) { ($0.integer(0), $0.integer(1)) }
            if counts.allSatisfy({ $0.0 == $0.1 }) { return }
        } catch {
            guard error.code == .damaged else { throw error }
        }
        throw DeviceError(
            .damaged, "fts5vocab",
            "\(path): the index of the words is damaged; run fieldscribe recover, which rebuilds it")
    }

    private static func checkTables(_ connection: Connection, path: String) throws {
        let findings = try connection.rows("PRAGMA quick_check(1)") { $0.text(0) }
        let kept = try connection.rows("SELECT schema FROM house") { $0.text(0) }
        guard findings == ["ok"], kept == [try schemaChecksum(of: connection)] else {
            throw damage("PRAGMA quick_check", path)
        }
    }

    /// Step n leads from version n to n + 1. A step that was released is never edited.
    static let steps = [
        // Times are samples since the recording's start, at 16,000 a second.
        """
        CREATE TABLE recording (
            id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used again: it names a folder
            started_at REAL NOT NULL,               -- seconds since 1970-01-01T00:00:00Z
            clock TEXT NOT NULL,                    -- synchronized, unverified
            boot_id TEXT,
            monotonic_ns INTEGER,
            microphone TEXT NOT NULL,
            length_samples INTEGER NOT NULL DEFAULT 0,
            transcribed_samples INTEGER NOT NULL DEFAULT 0,
            stop_reason TEXT NOT NULL DEFAULT 'cut short'
        ) STRICT;

        -- One reading of a recording by one engine.
        CREATE TABLE pass (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            recording INTEGER NOT NULL REFERENCES recording ON DELETE CASCADE,
            engine TEXT NOT NULL,
            version TEXT NOT NULL,
            model TEXT NOT NULL,
            profile TEXT NOT NULL
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
            UNIQUE (pass, number)
        ) STRICT;

        -- A confidence that is not a number is kept as NULL.
        CREATE TABLE word (
            segment INTEGER NOT NULL REFERENCES segment ON DELETE CASCADE,
            number INTEGER NOT NULL,
            start_sample INTEGER NOT NULL,
            end_sample INTEGER NOT NULL CHECK (end_sample >= start_sample),
            text TEXT NOT NULL,
            confidence REAL,
            PRIMARY KEY (segment, number)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE alternative (
            segment INTEGER NOT NULL REFERENCES segment ON DELETE CASCADE,
            number INTEGER NOT NULL,
            text TEXT NOT NULL,
            confidence REAL,
            PRIMARY KEY (segment, number)
        ) STRICT, WITHOUT ROWID;

        -- Unique, so that telling of the same gap or mark again after a restart changes nothing.
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

        -- An apostrophe separates tokens; the search asks for the tokens of a word in a row, so that don't finds don't
        -- however the apostrophe is written.
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
        """,
        """
        ALTER TABLE recording ADD COLUMN state TEXT NOT NULL DEFAULT 'present';    -- present, missing (its audio)
        -- How long the recording's journal was after the last change: another length means that they differ.
        ALTER TABLE recording ADD COLUMN journal_bytes INTEGER NOT NULL DEFAULT 0;

        ALTER TABLE pass ADD COLUMN complete INTEGER NOT NULL DEFAULT 0;
        UPDATE pass SET complete = 1 WHERE id IN (
            SELECT max(pass.id) FROM pass JOIN recording ON recording.id = pass.recording
            WHERE transcribed_samples >= length_samples AND stop_reason != 'cut short' GROUP BY recording);

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

        -- That something was erased, but not what.
        CREATE TABLE erasure (
            recording INTEGER NOT NULL,
            erased_at REAL NOT NULL
        ) STRICT;
        """,
        // One row: what the header says, and a checksum of the schema.
        """
        CREATE TABLE house (
            version INTEGER NOT NULL,
            schema TEXT NOT NULL
        ) STRICT;
        INSERT INTO house VALUES (3, '');
        """,
        // How the voice sounded: all four, or NULL where it was not told.
        """
        ALTER TABLE segment ADD COLUMN pitch REAL;          -- Hz
        ALTER TABLE segment ADD COLUMN jitter REAL;
        ALTER TABLE segment ADD COLUMN shimmer REAL;
        ALTER TABLE segment ADD COLUMN voicing REAL;        -- the share of frames, 0 to 1
        """,
        """
        ALTER TABLE segment ADD COLUMN final_lowering REAL; -- semitones, or NULL
        """,
        """
        ALTER TABLE pass ADD COLUMN channel TEXT;           -- ChannelState as JSON, or NULL
        """,
        """
        ALTER TABLE word ADD COLUMN is_spread INTEGER NOT NULL DEFAULT 0;   -- 1: its times are an estimate
        """,
        """
        ALTER TABLE pass ADD COLUMN correction TEXT;        -- Correction as JSON where a person has written it, or NULL
        """,
        // A recording's place among those of its power-on, without looking at all there are.
        """
        CREATE INDEX recording_of_boot ON recording (boot_id);
        """,
        // Who did what: each line of history.jsonl, and where it ends there. It outlives the recordings.
        """
        CREATE TABLE history (
            number INTEGER PRIMARY KEY,
            recording INTEGER,
            act TEXT NOT NULL,
            line TEXT NOT NULL,
            end_bytes INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX history_of_recording ON history (recording, act);
        CREATE INDEX history_end ON history (end_bytes);
        """,
        // Who speaks when, whatever the pass: a word is said by whoever has the turn at its time.
        """
        ALTER TABLE recording ADD COLUMN has_speakers INTEGER NOT NULL DEFAULT 0;  -- 1: somebody has looked
        CREATE TABLE turn (
            recording INTEGER NOT NULL REFERENCES recording ON DELETE CASCADE,
            start_sample INTEGER NOT NULL,
            end_sample INTEGER NOT NULL CHECK (end_sample >= start_sample),
            speaker INTEGER NOT NULL,               -- 0, 1 ... in the order in which they are first heard
            PRIMARY KEY (recording, start_sample)
        ) STRICT, WITHOUT ROWID;
        """,
    ]
}

extension Connection {
    fileprivate func number(_ sql: String) throws(DeviceError) -> Int { try rows(sql) { $0.integer(0) }.first ?? 0 }
}
