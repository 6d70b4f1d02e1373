import Core

/// Brings the file's schema up to this version's.
enum Migrations {
    /// "FSCR": tells our files from those of other programs.
    private static let application = 0x4653_4352

    /// Applies what is missing, each step whole or not at all.
    ///
    /// - Throws: `DeviceError` with `unsupported` where the file is of a later version or another program's.
    static func apply(to connection: Connection, path: String) throws {
        let version = try connection.number("PRAGMA user_version")
        let owner = try connection.number("PRAGMA application_id")
        let isForeign =
            if owner == 0 && version == 0 {
                try connection.number("SELECT count(*) FROM sqlite_schema") > 0
            } else {
                owner != application
            }
        if isForeign {
            throw DeviceError(
                .unsupported, "PRAGMA application_id",
                "\(path): a database of another program; name another archive")
        }
        if version > steps.count {
            throw DeviceError(
                .unsupported, "PRAGMA user_version",
                "\(path): written by a newer fieldscribe (schema \(version), this one knows \(steps.count)); update fieldscribe"
            )
        }
        for next in version..<steps.count {
            try connection.transaction {
                try connection.execute(steps[next])
                try connection.execute(
                    "PRAGMA user_version = \(next + 1); PRAGMA application_id = \(application)")
            }
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
        """
    ]
}

extension Connection {
    fileprivate func number(_ sql: String) throws(DeviceError) -> Int { try rows(sql) { $0.integer(0) }.first ?? 0 }
}
