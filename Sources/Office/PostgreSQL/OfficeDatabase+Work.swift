import Core
import System

// The queue of what is to be read again. Whoever takes a job has a lease on it, which ends by itself where that machine dies; only who
// has taken it last can finish it, and finishing it and keeping its text are one transaction.
extension OfficeDatabase {
    /// So often a job may fail before it is left alone.
    private static let mostFailures = 3

    /// After so long it looks even if no copy has come, in nanoseconds: texts of other archives may tell of what was struck, too.
    private static let longestOffer: Int64 = 300_000_000_000

    /// What an engine was offered, and when.
    struct Offer {
        fileprivate let engine: String
        /// The latest copy that was there.
        fileprivate let latest: Int
        fileprivate let time: Int64
    }

    /// Enters what an engine is to read: recordings with sound that it, or a better one, has not read as they are now.
    ///
    /// Of an archive to which no copy has come that is one short question: idle machines ask again and again, and looking at all of
    /// 100,000 recordings takes the server half a second.
    package func offer(_ engine: ReadingEngine) throws(DeviceError) {
        let latest = try connection.rows("SELECT coalesce(max(id), 0) FROM copy") { $0.integer(0) }.first ?? 0
        let now = MonotonicClock.nanoseconds
        if let offered, offered.engine == engine.label, offered.latest == latest,
            now - offered.time < Self.longestOffer
        {
            return
        }
        try enterJobs(engine)
        offered = Offer(engine: engine.label, latest: latest, time: now)
    }

    private func enterJobs(_ engine: ReadingEngine) throws(DeviceError) {
        var (isRead, values) = (
            "reading.engine NOT IN ('', $2::text)", [ServerValue.text(engine.label), .text(engine.name)]
        )
        if engine.name != ReadingEngine.plain {
            isRead = "reading.engine = $2::text AND reading.timeline::json #>> '{engine,model}' = $3::text"
            values.append(.optional(engine.model))
        }
        _ = try connection.rows(
            """
            INSERT INTO job (recording, engine, struck)
            SELECT state.id, $1::text, state.struck FROM (
                SELECT recording.id, coalesce(latest.struck, 0) AS struck FROM recording
                LEFT JOIN (SELECT recording, max(struck) AS struck FROM reading GROUP BY recording) AS latest
                    ON latest.recording = recording.id
                WHERE EXISTS (SELECT 1 FROM copy WHERE copy.recording = recording.id AND copy.audio <> '')) AS state
            WHERE NOT EXISTS (
                    SELECT 1 FROM job WHERE job.recording = state.id AND job.engine = $1::text AND job.struck = state.struck)
                AND NOT EXISTS (
                    SELECT 1 FROM reading WHERE reading.recording = state.id AND reading.person IS NULL
                        AND reading.struck = state.struck AND \(isRead))
            ORDER BY state.id ON CONFLICT DO NOTHING
            """, values
        ) { _ in 0 }
    }

    /// Takes a job that nobody has; nil where there is none now.
    ///
    /// - Parameter lease: for so many seconds it is nobody else's.
    package func claim(_ engine: ReadingEngine, lease: Int) throws(DeviceError) -> OfficeJob? {
        try connection.rows(
            """
            UPDATE job SET token = token + 1, leased_until = clock_timestamp() + make_interval(secs => $2::float8)
            WHERE id = (
                SELECT id FROM job
                WHERE engine = $1::text AND done_at IS NULL AND failures < \(Self.mostFailures)
                    AND (leased_until IS NULL OR leased_until < clock_timestamp())
                ORDER BY token, id LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING id, recording, token
            """, [.text(engine.label), .integer(lease)]
        ) { OfficeJob(id: $0.integer(0), recording: $0.integer(1), token: $0.integer(2)) }.first
    }

    /// Keeps a job for so many seconds more; false where somebody else has taken it meanwhile.
    package func renew(_ job: OfficeJob, lease: Int) throws(DeviceError) -> Bool {
        try connection.run(
            """
            UPDATE job SET leased_until = clock_timestamp() + make_interval(secs => $3::float8)
            WHERE id = $1 AND token = $2 AND done_at IS NULL
            """, .integer(job.id), .integer(job.token), .integer(lease)) == 1
    }

    /// Gives a job back that nothing came of.
    package func release(_ job: OfficeJob) throws(DeviceError) {
        try connection.run(
            "UPDATE job SET leased_until = NULL WHERE id = $1 AND token = $2 AND done_at IS NULL", .integer(job.id),
            .integer(job.token))
    }

    /// Gives a job back that failed; after the third time it is left alone.
    ///
    /// - Parameter problem: why, in one line.
    package func fail(_ job: OfficeJob, _ problem: String) throws(DeviceError) {
        try connection.run(
            """
            UPDATE job SET leased_until = NULL, failures = failures + 1, problem = $3
            WHERE id = $1 AND token = $2 AND done_at IS NULL
            """, .integer(job.id), .integer(job.token), .text(problem))
    }

    /// Keeps what a job came to, as one text more of its recording; may be called again where nobody knows whether it was kept.
    ///
    /// - Parameter reading: makes it, by the text that the recording is shown with.
    /// - Returns: false where somebody else has taken the job meanwhile: then nothing was kept.
    package func finish(
        _ job: OfficeJob, _ reading: (Timeline?) throws(DeviceError) -> GatheredReading
    ) throws(DeviceError) -> Bool {
        try connection.transaction { () throws(DeviceError) in
            let changed = try connection.run(
                """
                UPDATE job SET done_at = clock_timestamp(), leased_until = NULL
                WHERE id = $1 AND token = $2 AND done_at IS NULL
                """, .integer(job.id), .integer(job.token))
            guard changed == 1 else {
                // The connection may have broken behind the commit.
                return try connection.rows(
                    "SELECT 1 FROM job WHERE id = $1 AND token = $2 AND done_at IS NOT NULL",
                    [.integer(job.id), .integer(job.token)]
                ) { _ in true }.first ?? false
            }
            _ = try connection.rows(
                "SELECT 1 FROM recording WHERE id = $1 FOR UPDATE", [.integer(job.recording)]
            ) { _ in 1 }
            let new = try reading(try shownTimeline(of: job.recording))
            _ = try add([(job.recording, new)])
            try show([job.recording], from: [new])
            return true
        }
    }

    /// How many jobs of an engine are not done, without those that are left alone.
    package func unfinished(_ engine: ReadingEngine) throws(DeviceError) -> Int {
        try connection.rows(
            "SELECT count(*) FROM job WHERE engine = $1 AND done_at IS NULL AND failures < \(Self.mostFailures)",
            [.text(engine.label)]
        ) { $0.integer(0) }.first ?? 0
    }

    /// The recordings that failed too often, and why.
    package func failed(_ engine: ReadingEngine) throws(DeviceError) -> [(recording: Int, problem: String)] {
        try connection.rows(
            """
            SELECT recording, problem FROM job
            WHERE engine = $1 AND done_at IS NULL AND failures >= \(Self.mostFailures) ORDER BY recording
            """, [.text(engine.label)]
        ) { ($0.integer(0), $0.text(1)) }
    }

    /// Has what failed too often be tried again.
    package func retry(_ engine: ReadingEngine) throws(DeviceError) {
        try connection.run(
            "UPDATE job SET failures = 0 WHERE engine = $1 AND done_at IS NULL AND failures > 0", .text(engine.label))
    }
}
