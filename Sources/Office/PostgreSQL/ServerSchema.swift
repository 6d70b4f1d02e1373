import Core

/// Migrates the schema of an archive on a server to this version's schema.
enum ServerSchema {
    /// The key of the advisory lock for migrations: "FSCO".
    private static let lock = 0x4653_434F

    /// Applies all missing migrations or none. Concurrent migrations wait for each other.
    ///
    /// - Throws: `DeviceError` with `unsupported` if a later version wrote the schema, `missing` if there is no archive
    ///   and `creates` is false, `denied` if the user lacks a permission.
    static func apply(
        to connection: ServerConnection, creates: Bool, _ timeout: ServerTimeout
    ) throws(DeviceError) {
        // JIT compilation takes seconds and is never worth it for these small queries. The other settings are the
        // server's defaults, in case a database or role changes them. If a machine disappears during a transaction, the
        // server aborts the transaction after minutes instead of hours. That is safe, because our transactions wait
        // only for the server.
        try connection.execute(
            """
            SET search_path = fieldscribe, public; SET jit = off; SET array_nulls = on; SET extra_float_digits = 1;
            SET standard_conforming_strings = on; SET default_transaction_isolation = 'read committed';
            SET idle_in_transaction_session_timeout = '5min'; SET tcp_keepalives_idle = 60;
            SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3
            """)
        _ = try set("lock_timeout", seconds: timeout.seconds * 2 / 3, of: connection)
        let encoding = try connection.rows("SHOW server_encoding") { $0.text(0) }.first ?? ""
        guard encoding == "UTF8" else {
            throw DeviceError(
                .unsupported, "SHOW", on: connection.name,
                "is encoded in \(encoding), which lacks the letters of many languages",
                remedy: "create another database: createdb --encoding UTF8 --template template0 NAME")
        }
        try connection.transaction { () throws(DeviceError) in
            let exists =
                try connection.rows("SELECT to_regclass('fieldscribe.house') IS NOT NULL") { $0.text(0) } == ["t"]
            guard exists || creates else {
                throw DeviceError(
                    .missing, "SELECT", on: connection.name, "contains no archive of fieldscribe-office",
                    remedy: "create one: fieldscribe-office gather FOLDER --into postgresql://... --files FOLDER")
            }
            if exists, try version(of: connection) == steps.count { return }
            try connection.execute("SELECT pg_advisory_xact_lock(\(lock))")
            if !exists { try connection.execute("CREATE SCHEMA IF NOT EXISTS fieldscribe; " + house) }
            let version = try version(of: connection)
            guard version <= steps.count else {
                throw DeviceError(
                    .unsupported, "SELECT", on: connection.name,
                    "was written by a newer fieldscribe-office (schema \(version), this one knows \(steps.count))",
                    remedy: "update fieldscribe-office")
            }
            // Migrating a large archive takes a long time.
            let limit = connection.limit
            connection.limit = nil
            defer { connection.limit = limit }
            for step in steps[version...] { try connection.execute(step) }
            try connection.execute("UPDATE house SET version = \(steps.count)")
        }
        // The server cancels a statement before we stop waiting for it.
        let limit = try set("statement_timeout", seconds: timeout.seconds * 5 / 6, of: connection)
        connection.limit = max(timeout.seconds, limit + 1)
    }

    /// Sets a timeout unless the address, the database or the role sets it. Returns its value in seconds.
    private static func set(
        _ name: String, seconds: Int, of connection: ServerConnection
    ) throws(DeviceError) -> Int {
        try connection.run(
            "SELECT set_config(name, $2, false) FROM pg_settings WHERE name = $1 AND setting = '0'",
            .text(name), .text("\(seconds)s"))
        return try connection.number(
            "SELECT ceil(setting::numeric / 1000)::bigint FROM pg_settings WHERE name = $1", .text(name))
    }

    private static func version(of connection: ServerConnection) throws(DeviceError) -> Int {
        try connection.number("SELECT version FROM house")
    }

    /// SQL for a table with one row: the version, and the path of the folder with the copies on the machine that
    /// created the archive.
    private static let house = """
        CREATE TABLE IF NOT EXISTS fieldscribe.house (version integer NOT NULL, files text NOT NULL DEFAULT '');
        INSERT INTO fieldscribe.house (version) SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM fieldscribe.house);
        """

    /// Step n migrates version n to n + 1. Never edit a step that was released.
    static let steps = [
        // Positions in recordings are in samples, 16,000 per second; other times are in seconds since
        // 1970-01-01T00:00:00Z.
        """
        CREATE EXTENSION IF NOT EXISTS unaccent WITH SCHEMA public;
        CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;
        CREATE TEXT SEARCH CONFIGURATION fieldscribe.spoken (COPY = pg_catalog.simple);
        ALTER TEXT SEARCH CONFIGURATION fieldscribe.spoken ALTER MAPPING FOR
            asciiword, word, numword, asciihword, hword, numhword, hword_asciipart, hword_part, hword_numpart
            WITH public.unaccent, pg_catalog.simple;

        CREATE TABLE recorder (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            name text NOT NULL,
            folder text NOT NULL UNIQUE,
            key text UNIQUE,                        -- public key that signs its copies
            machine text                            -- twelve digits that stand for its machine
        );

        CREATE TABLE recording (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            recorder bigint NOT NULL REFERENCES recorder,
            number bigint NOT NULL,                 -- on its recorder
            root text NOT NULL,                     -- digest of the first line of its history, or empty
            started_at double precision NOT NULL,
            clock text NOT NULL,                    -- synchronized, unverified
            length_samples bigint NOT NULL,
            shown bigint,                           -- the reading that is shown
            title text NOT NULL DEFAULT '',
            people text NOT NULL DEFAULT '',
            people_key text NOT NULL DEFAULT ''     -- in lower case
        );
        CREATE INDEX recording_of_recorder ON recording (recorder, number);
        CREATE INDEX recording_start ON recording (started_at);

        CREATE TABLE copy (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            digest text NOT NULL UNIQUE,            -- of its SHA256SUMS
            recording bigint NOT NULL REFERENCES recording,
            place text NOT NULL,                    -- its folder, in that of the archive's files
            audio text NOT NULL,                    -- the sound's name in it, or empty
            sound text NOT NULL,                    -- digest of its samples, or empty
            signed boolean,                         -- whether its signature was found to fit
            sealed text                             -- digest of the sealed file that it was in
        );
        CREATE INDEX copy_of_recording ON copy (recording);
        CREATE INDEX copy_of_sound ON copy (sound) WHERE sound <> '';
        CREATE INDEX copy_of_sealed ON copy (sealed) WHERE sealed IS NOT NULL;

        CREATE TABLE reading (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            recording bigint NOT NULL REFERENCES recording,
            digest text NOT NULL,
            engine text NOT NULL,
            person text,                            -- who has put it right; NULL for an engine's
            made_at double precision NOT NULL,      -- 0: not known
            struck integer NOT NULL,                -- the number of redactions by then
            timeline text NOT NULL,                 -- Timeline as JSON
            UNIQUE (recording, digest)
        );

        CREATE TABLE history (
            recording bigint NOT NULL REFERENCES recording,
            number bigint NOT NULL,
            digest text NOT NULL,                   -- of the line
            line text NOT NULL,
            PRIMARY KEY (recording, number, digest)
        );

        -- What can be found: of each recording the reading that is shown.
        CREATE TABLE line (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            recording bigint NOT NULL REFERENCES recording,
            segment bigint NOT NULL,                -- 0: a bookmark
            start_sample bigint NOT NULL,
            end_sample bigint NOT NULL,
            speaker text NOT NULL,                  -- A, B ... or empty
            name text NOT NULL,
            name_key text NOT NULL,                 -- in lower case
            text text NOT NULL,
            words tsvector NOT NULL
        );
        CREATE INDEX line_of_recording ON line (recording);
        CREATE INDEX line_words ON line USING gin (words);

        -- Every word in the archive, to find misrecognized spellings.
        CREATE TABLE word (key text PRIMARY KEY);
        CREATE INDEX word_trigrams ON word USING gin (key public.gin_trgm_ops);
        """,
        """
        CREATE INDEX recording_of_root ON recording (root);

        -- Transcriptions to do: each recording once by each engine, and once more after a redaction.
        CREATE TABLE job (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            recording bigint NOT NULL REFERENCES recording,
            engine text NOT NULL,                   -- with its model
            struck integer NOT NULL,                -- the number of redactions when it was entered
            token bigint NOT NULL DEFAULT 0,        -- counts who has taken it; only the last of them may finish it
            leased_until timestamptz,               -- NULL: nobody has it
            failures integer NOT NULL DEFAULT 0,
            problem text NOT NULL DEFAULT '',       -- the last failure
            done_at timestamptz,
            UNIQUE (recording, engine, struck)
        );
        CREATE INDEX job_waiting ON job (engine, token, id) WHERE done_at IS NULL;
        """,
        """
        -- The number of redactions of the recording when the copy was made; -1: unknown.
        ALTER TABLE copy ADD COLUMN struck integer NOT NULL DEFAULT 0;
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
