import Archive
import Core

/// Migrates an archive's database to this version's schema.
enum OfficeSchema {
    /// The application ID, "FSCO", which distinguishes our files from those of other programs and recorders.
    private static let application = 0x4653_434F

    /// Applies all missing migrations, or none if one fails.
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
                    "was written by a newer fieldscribe-office (schema \(version); this version supports up to "
                        + "\(steps.count))",
                    remedy: "update fieldscribe-office")
            }
            guard version < steps.count else { return }
            for step in steps[version...] { try connection.execute(step) }
            try connection.execute("PRAGMA user_version = \(steps.count); PRAGMA application_id = \(application)")
        }
    }

    /// Checks the version of a read-only database, which cannot be migrated.
    ///
    /// - Throws: `DeviceError` with `unsupported` if the database has another version or belongs to another program.
    static func check(_ connection: Connection, path: String) throws(DeviceError) {
        let version = try connection.number("PRAGMA user_version")
        let owner = try connection.number("PRAGMA application_id")
        guard owner == application, version == steps.count else {
            throw DeviceError(
                .unsupported, "PRAGMA user_version", on: path,
                "is read-only, and was written by another version of fieldscribe-office (schema \(version); this version "
                    + "needs \(steps.count))", remedy: "open it once with write permission")
        }
    }

    /// Step n migrates version n to n + 1. Never change the effect of a step that was released.
    static let steps = [
        // Positions and lengths are in samples, 16,000 per second; times are in seconds since 1970-01-01T00:00:00Z.
        // Digests are SHA-256.
        // - `recording.number` is the recording's number on its recorder, `root` the digest of the first line of its
        //   history (may be empty), `shown` the ID of its transcript that is shown and searched.
        // - `people_key` and `name_key` are `people` and `name` in lower case.
        // - `copy.digest` is the digest of SHA256SUMS, `sound` that of the samples (may be empty), `sealed` that of the
        //   sealed file that contained the copy. `place` is the copy's folder, `signed` is 1 if its signature was
        //   verified.
        // - `reading` contains transcripts as JSON; `person` is NULL for an engine's. `struck` is the number of
        //   redactions when the transcript or copy was made; -1 if unknown.
        // - `line` contains the lines of shown transcripts, and their bookmarks, which have segment 0.
        """
        CREATE TABLE recorder (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            folder TEXT NOT NULL UNIQUE,
            key TEXT UNIQUE,
            machine TEXT
        ) STRICT;

        CREATE TABLE recording (
            id INTEGER PRIMARY KEY,
            recorder INTEGER NOT NULL REFERENCES recorder,
            number INTEGER NOT NULL,
            root TEXT NOT NULL,
            started_at REAL NOT NULL,
            clock TEXT NOT NULL,
            length_samples INTEGER NOT NULL,
            shown INTEGER,
            title TEXT NOT NULL DEFAULT '',
            people TEXT NOT NULL DEFAULT '',
            people_key TEXT NOT NULL DEFAULT ''
        ) STRICT;
        CREATE INDEX recording_of_recorder ON recording (recorder, number);
        CREATE INDEX recording_start ON recording (started_at);

        CREATE TABLE copy (
            id INTEGER PRIMARY KEY,
            digest TEXT NOT NULL UNIQUE,
            recording INTEGER NOT NULL REFERENCES recording,
            place TEXT NOT NULL,
            audio TEXT NOT NULL,
            sound TEXT NOT NULL,
            signed INTEGER,
            sealed TEXT
        ) STRICT;
        CREATE INDEX copy_of_recording ON copy (recording);
        CREATE INDEX copy_of_sound ON copy (sound) WHERE sound != '';
        CREATE INDEX copy_of_sealed ON copy (sealed) WHERE sealed IS NOT NULL;

        CREATE TABLE reading (
            id INTEGER PRIMARY KEY,
            recording INTEGER NOT NULL REFERENCES recording,
            digest TEXT NOT NULL,
            engine TEXT NOT NULL,
            person TEXT,
            made_at REAL NOT NULL,
            struck INTEGER NOT NULL,
            timeline TEXT NOT NULL,
            UNIQUE (recording, digest)
        ) STRICT;

        CREATE TABLE history (
            recording INTEGER NOT NULL REFERENCES recording,
            number INTEGER NOT NULL,
            line TEXT NOT NULL,
            PRIMARY KEY (recording, number, line)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE line (
            id INTEGER PRIMARY KEY,
            recording INTEGER NOT NULL REFERENCES recording,
            segment INTEGER NOT NULL,
            start_sample INTEGER NOT NULL,
            end_sample INTEGER NOT NULL,
            speaker TEXT NOT NULL,
            name TEXT NOT NULL,
            name_key TEXT NOT NULL,
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
