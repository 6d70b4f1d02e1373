import Core
import CSQLite

/// The rows of copies of the first recording.
enum CopiesArchive {
    static func fill(_ path: String, count: Int) throws {
        var opened: OpaquePointer?
        guard sqlite3_open(path, &opened) == SQLITE_OK, let database = opened else {
            throw DeviceError(.failed, "sqlite3_open", "\(path): cannot be opened")
        }
        defer { sqlite3_close(database) }
        let sql = """
            BEGIN;
            WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO recording (id, started_at, clock, microphone, length_samples, transcribed_samples, stop_reason)
            SELECT i, 1.7e9 + i * 100, 'synchronized', 'm', length_samples, length_samples, 'button'
            FROM n JOIN recording ON recording.id = 1;
            INSERT INTO pass (recording, engine, version, model, profile, complete)
            SELECT id, 'e', '1', 'm', 'live', 1 FROM recording;
            INSERT INTO segment (pass, number, start_sample, end_sample, text, ended_by)
            SELECT id, 1, 0, 8000, 'said in ' || recording, 'silence' FROM pass;
            INSERT INTO word (segment, number, start_sample, end_sample, text, confidence)
            SELECT id, 1, 0, 8000, text, 0.5 FROM segment;
            COMMIT;
            """
        guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else {
            throw DeviceError(.failed, "sqlite3_exec", "\(path): \(String(cString: sqlite3_errmsg(database)))")
        }
    }
}
