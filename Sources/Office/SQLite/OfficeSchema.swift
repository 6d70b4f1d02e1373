import Archive
import Core

/// Migrates an archive's database to this version's schema.
enum OfficeSchema {
    /// The application ID, "FSCO", which distinguishes our files from those of other programs and recorders.
    private static let application = 0x4653_434F

    /// Applies all missing migrations or none.
    ///
    /// - Throws: `DeviceError` with `unsupported` if another program or a later version wrote the file.
    static func apply(to connection: Connection, path: String) throws {
        try connection.transaction {
            let version = try connection.number("PRAGMA user_version")
            let owner = try connection.number("PRAGMA application_id")
            let tables = try connection.number("SELECT count(*) FROM sqlite_schema")
            guard owner == application || (owner == 0 && version == 0 && tables == 0) else {
                throw DeviceError(
                    .unsupported, "PRAGMA application_id", on: path, "is another program's database",
                    remedy: "choose another archive")
            }
            guard version <= steps.count else {
                throw DeviceError(
                    .unsupported, "PRAGMA user_version", on: path,
                    "was written by a newer fieldscribe-office (schema \(version), this one knows \(steps.count))",
                    remedy: "update fieldscribe-office")
            }
            guard version < steps.count else { return }
            for step in steps[version...] { try connection.execute(step) }
            try connection.execute("PRAGMA user_version = \(steps.count); PRAGMA application_id = \(application)")
        }
    }

    /// Checks the version of a database that cannot be migrated.
    ///
    /// - Throws: `DeviceError` with `unsupported` if it has another version.
    static func check(_ connection: Connection, path: String) throws(DeviceError) {
        let version = try connection.number("PRAGMA user_version")
        let owner = try connection.number("PRAGMA application_id")
        guard owner == application, version == steps.count else {
            throw DeviceError(
                .unsupported, "PRAGMA user_version", on: path,
                "is read-only, and was written by another version of fieldscribe-office (schema \(version), this one "
                    + "reads \(steps.count))", remedy: "open it once with write permission")
        }
    }

    /// Step n migrates version n to n + 1. Never edit a step that was released.
    static let steps = [
        // Positions in recordings are in samples, 16,000 per second; other times are in seconds since
        // 1970-01-01T00:00:00Z.
        """
        CREATE TABLE recorder (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            folder TEXT NOT NULL UNIQUE,
            key TEXT UNIQUE,                        -- public key that signs its copies
            machine TEXT                            -- twelve digits that stand for its machine
        ) STRICT;

        CREATE TABLE recording (
            id INTEGER PRIMARY KEY,
            recorder INTEGER NOT NULL REFERENCES recorder,
            number INTEGER NOT NULL,                -- on its recorder
            root TEXT NOT NULL,                     -- digest of the first line of its history, or empty
            started_at REAL NOT NULL,
            clock TEXT NOT NULL,                    -- synchronized, unverified
            length_samples INTEGER NOT NULL,
            shown INTEGER,                          -- the reading that is shown
            title TEXT NOT NULL DEFAULT '',
            people TEXT NOT NULL DEFAULT '',
            people_key TEXT NOT NULL DEFAULT ''     -- in lower case
        ) STRICT;
        CREATE INDEX recording_of_recorder ON recording (recorder, number);
        CREATE INDEX recording_start ON recording (started_at);

        CREATE TABLE copy (
            id INTEGER PRIMARY KEY,
            digest TEXT NOT NULL UNIQUE,            -- of its SHA256SUMS
            recording INTEGER NOT NULL REFERENCES recording,
            place TEXT NOT NULL,                    -- its folder, in that of the archive
            audio TEXT NOT NULL,                    -- the sound's name in it, or empty
            sound TEXT NOT NULL,                    -- digest of its samples, or empty
            signed INTEGER,                         -- 1: its signature was found to fit
            sealed TEXT                             -- digest of the sealed file that it was in
        ) STRICT;
        CREATE INDEX copy_of_recording ON copy (recording);
        CREATE INDEX copy_of_sound ON copy (sound) WHERE sound != '';
        CREATE INDEX copy_of_sealed ON copy (sealed) WHERE sealed IS NOT NULL;

        CREATE TABLE reading (
            id INTEGER PRIMARY KEY,
            recording INTEGER NOT NULL REFERENCES recording,
            digest TEXT NOT NULL,
            engine TEXT NOT NULL,
            person TEXT,                            -- who has put it right; NULL for an engine's
            made_at REAL NOT NULL,                  -- 0: not known
            struck INTEGER NOT NULL,                -- the number of redactions by then
            timeline TEXT NOT NULL,                 -- Timeline as JSON
            UNIQUE (recording, digest)
        ) STRICT;

        CREATE TABLE history (
            recording INTEGER NOT NULL REFERENCES recording,
            number INTEGER NOT NULL,
            line TEXT NOT NULL,
            PRIMARY KEY (recording, number, line)
        ) STRICT, WITHOUT ROWID;

        -- What can be found: of each recording the reading that is shown.
        CREATE TABLE line (
            id INTEGER PRIMARY KEY,
            recording INTEGER NOT NULL REFERENCES recording,
            segment INTEGER NOT NULL,               -- 0: a bookmark
            start_sample INTEGER NOT NULL,
            end_sample INTEGER NOT NULL,
            speaker TEXT NOT NULL,                  -- A, B ... or empty
            name TEXT NOT NULL,
            name_key TEXT NOT NULL,                 -- in lower case
            text TEXT NOT NULL
        ) STRICT;
        CREATE INDEX line_of_recording ON line (recording);

        CREATE VIRTUAL TABLE line_text USING fts5 (
            text, content = 'line', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
        );
        CREATE TRIGGER line_is_indexed AFTER INSERT ON line BEGIN
            INSERT INTO line_text (rowid, text) VALUES (NEW.id, NEW.text);
        END;
        CREATE TRIGGER line_leaves_index AFTER DELETE ON line BEGIN
            INSERT INTO line_text (line_text, rowid, text) VALUES ('delete', OLD.id, OLD.text);
        END;
        """,
        "CREATE INDEX recording_of_root ON recording (root);",
        """
        -- The number of redactions of the recording when the copy was made; -1: unknown.
        ALTER TABLE copy ADD COLUMN struck INTEGER NOT NULL DEFAULT 0;
        UPDATE copy SET struck = CASE WHEN (SELECT count(*) FROM copy AS other WHERE other.recording = copy.recording) > 1
            THEN -1 ELSE (SELECT max(reading.struck) FROM reading WHERE reading.recording = copy.recording) END
        WHERE EXISTS (SELECT 1 FROM reading WHERE reading.recording = copy.recording AND reading.struck > 0);
        DROP INDEX copy_of_recording;
        CREATE INDEX copy_of_recording ON copy (recording, struck, id);
        CREATE INDEX copy_struck ON copy (recording, struck) WHERE struck > 0;
        CREATE INDEX reading_struck ON reading (recording, struck) WHERE struck > 0;
        """,
    ]
}
