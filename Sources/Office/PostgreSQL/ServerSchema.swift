import Core

/// Migrates the schema of an archive on a server to this version's schema.
enum ServerSchema {
    /// The key of the advisory lock for migrations, "FSCO".
    private static let lockKey = 0x4653_434F

    /// Applies all missing migrations, or none if one fails. Concurrent migrations wait for each other.
    ///
    /// - Throws: `DeviceError` with `unsupported` for another encoding than UTF-8 or a later version's schema, `missing` if there is no archive
    ///   and `creates` is false, `denied` if the user lacks a permission.
    static func apply(
        to connection: ServerConnection, creates: Bool, _ timeout: ServerTimeout
    ) throws(DeviceError) {
        // JIT compilation takes seconds, longer than our small queries. If a machine disappears, the timeouts make the
        // server abort the machine's transaction after minutes instead of hours. That is safe, because our transactions
        // are never idle. The other settings are defaults that a database or role may have changed.
        try connection.execute(
            """
            SET search_path = fieldscribe, public; SET jit = off; SET array_nulls = on; SET extra_float_digits = 1;
            SET standard_conforming_strings = on; SET default_transaction_isolation = 'read committed';
            SET idle_in_transaction_session_timeout = '5min'; SET tcp_keepalives_idle = 60;
            SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3
            """)
        _ = try setTimeout("lock_timeout", seconds: timeout.seconds * 2 / 3, of: connection)
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
            try connection.execute("SELECT pg_advisory_xact_lock(\(lockKey))")
            if !exists { try connection.execute("CREATE SCHEMA IF NOT EXISTS fieldscribe; " + versionTable) }
            let version = try version(of: connection)
            guard version <= steps.count else {
                throw DeviceError(
                    .unsupported, "SELECT", on: connection.name,
                    "was written by a newer fieldscribe-office (schema \(version); this version supports up to "
                        + "\(steps.count))",
                    remedy: "update fieldscribe-office")
            }
            // Migrating a large archive takes a long time.
            let timeoutSeconds = connection.timeoutSeconds
            connection.timeoutSeconds = nil
            defer { connection.timeoutSeconds = timeoutSeconds }
            for step in steps[version...] { try connection.execute(step) }
            try connection.execute("UPDATE house SET version = \(steps.count)")
        }
        // This timeout expires before we stop waiting, so that we receive the server's error, which states the cause.
        let limit = try setTimeout("statement_timeout", seconds: timeout.seconds * 5 / 6, of: connection)
        connection.timeoutSeconds = max(timeout.seconds, limit + 1)
    }

    /// Sets a timeout unless the server's configuration, the database, the role or the address sets it. Returns its
    /// value in seconds.
    private static func setTimeout(
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

    /// SQL for a table with one row: the schema's version, and the path of the folder with the copies on the machine that
    /// created the archive.
    private static let versionTable = """
        CREATE TABLE IF NOT EXISTS fieldscribe.house (version integer NOT NULL, files text NOT NULL DEFAULT '');
        INSERT INTO fieldscribe.house (version) SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM fieldscribe.house);
        """

    /// Step n migrates version n to n + 1. Never change the effect of a step that was released.
    static let steps = [
        // `OfficeSchema.steps` explains the tables. In addition, `history.digest` is the SHA-256 of the line, and `word`
        // contains every word in the archive, to find similar spellings.
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
            key text UNIQUE,
            machine text
        );

        CREATE TABLE recording (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            recorder bigint NOT NULL REFERENCES recorder,
            number bigint NOT NULL,
            root text NOT NULL,
            started_at double precision NOT NULL,
            clock text NOT NULL,
            length_samples bigint NOT NULL,
            shown bigint,
            title text NOT NULL DEFAULT '',
            people text NOT NULL DEFAULT '',
            people_key text NOT NULL DEFAULT ''
        );
        CREATE INDEX recording_of_recorder ON recording (recorder, number);
        CREATE INDEX recording_start ON recording (started_at);

        CREATE TABLE copy (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            digest text NOT NULL UNIQUE,
            recording bigint NOT NULL REFERENCES recording,
            place text NOT NULL,
            audio text NOT NULL,
            sound text NOT NULL,
            signed boolean,
            sealed text
        );
        CREATE INDEX copy_of_recording ON copy (recording);
        CREATE INDEX copy_of_sound ON copy (sound) WHERE sound <> '';
        CREATE INDEX copy_of_sealed ON copy (sealed) WHERE sealed IS NOT NULL;

        CREATE TABLE reading (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            recording bigint NOT NULL REFERENCES recording,
            digest text NOT NULL,
            engine text NOT NULL,
            person text,
            made_at double precision NOT NULL,
            struck integer NOT NULL,
            timeline text NOT NULL,
            UNIQUE (recording, digest)
        );

        CREATE TABLE history (
            recording bigint NOT NULL REFERENCES recording,
            number bigint NOT NULL,
            digest text NOT NULL,
            line text NOT NULL,
            PRIMARY KEY (recording, number, digest)
        );

        CREATE TABLE line (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            recording bigint NOT NULL REFERENCES recording,
            segment bigint NOT NULL,
            start_sample bigint NOT NULL,
            end_sample bigint NOT NULL,
            speaker text NOT NULL,
            name text NOT NULL,
            name_key text NOT NULL,
            text text NOT NULL,
            words tsvector NOT NULL
        );
        CREATE INDEX line_of_recording ON line (recording);
        CREATE INDEX line_words ON line USING gin (words);

        CREATE TABLE word (key text PRIMARY KEY);
        CREATE INDEX word_trigrams ON word USING gin (key public.gin_trgm_ops);
        """,
        // A job is the transcription of a recording by an engine and model after a number of redactions (`struck`). `token`
        // counts how often it was claimed. `leased_until` is NULL if no machine has claimed it.
        """
        CREATE INDEX recording_of_root ON recording (root);

        CREATE TABLE job (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            recording bigint NOT NULL REFERENCES recording,
            engine text NOT NULL,
            struck integer NOT NULL,
            token bigint NOT NULL DEFAULT 0,
            leased_until timestamptz,
            failures integer NOT NULL DEFAULT 0,
            problem text NOT NULL DEFAULT '',
            done_at timestamptz,
            UNIQUE (recording, engine, struck)
        );
        CREATE INDEX job_waiting ON job (engine, token, id) WHERE done_at IS NULL;
        """,
        """
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
