import Core
import System

// The queue of recordings to transcribe again. A machine that claims a job gets a lease, which expires if the machine
// fails. Only the latest claim can finish a job. One transaction finishes the job and adds its transcript.
extension OfficeDatabase {
    private static let maximumFailures = 3

    /// The time, in nanoseconds, after which `offer(_:)` queries all recordings even if no copy was added, because
    /// transcripts from other archives may contain redactions.
    private static let offerInterval: Int64 = 300_000_000_000

    /// The state of the archive when jobs were last added.
    struct Offer {
        fileprivate let engine: String
        /// The ID of the latest copy at that time.
        fileprivate let latest: Int
        fileprivate let time: Int64
    }

    /// Adds jobs for an engine: for recordings with sound whose current version neither this engine nor a better one
    /// has transcribed.
    ///
    /// Returns after one short query if no copy was added, because idle machines call this function every few seconds,
    /// and a query over 100,000 recordings takes half a second.
    func offer(_ engine: OfficeEngine) throws(DeviceError) {
        let latest = try connection.number("SELECT coalesce(max(id), 0) FROM copy")
        let now = MonotonicClock.nanoseconds
        if let offered, offered.engine == engine.label, offered.latest == latest,
            now - offered.time < Self.offerInterval
        {
            return
        }
        try addJobs(engine)
        offered = Offer(engine: engine.label, latest: latest, time: now)
    }

    private func addJobs(_ engine: OfficeEngine) throws(DeviceError) {
        var (isRead, values) = (
            "reading.engine NOT IN ('', $2::text)", [ServerValue.text(engine.label), .text(engine.name)]
        )
        if engine.name != OfficeEngine.fallback {
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

    /// Claims an available job. Returns nil if there is none.
    ///
    /// - Parameter lease: the time after which another machine may claim the job, in seconds.
    func claim(_ engine: OfficeEngine, lease: Int) throws(DeviceError) -> OfficeJob? {
        try connection.rows(
            """
            UPDATE job SET token = token + 1, leased_until = clock_timestamp() + make_interval(secs => $2::float8)
            WHERE id = (
                SELECT id FROM job
                WHERE engine = $1::text AND done_at IS NULL AND failures < \(Self.maximumFailures)
                    AND (leased_until IS NULL OR leased_until < clock_timestamp())
                ORDER BY token, id LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING id, recording, token
            """, [.text(engine.label), .integer(lease)]
        ) { OfficeJob(id: $0.integer(0), recording: $0.integer(1), token: $0.integer(2)) }.first
    }

    /// Extends the lease of a job. Returns false if another machine has claimed the job.
    func renew(_ job: OfficeJob, lease: Int) throws(DeviceError) -> Bool {
        try connection.run(
            """
            UPDATE job SET leased_until = clock_timestamp() + make_interval(secs => $3::float8)
            WHERE id = $1 AND token = $2 AND done_at IS NULL
            """, .integer(job.id), .integer(job.token), .integer(lease)) == 1
    }

    /// Returns a job to the queue.
    func release(_ job: OfficeJob) throws(DeviceError) {
        try connection.run(
            "UPDATE job SET leased_until = NULL WHERE id = $1 AND token = $2 AND done_at IS NULL", .integer(job.id),
            .integer(job.token))
    }

    /// Returns a failed job to the queue. After the third failure, the job is given up.
    ///
    /// - Parameter problem: the reason, in one line.
    func fail(_ job: OfficeJob, _ problem: String) throws(DeviceError) {
        try connection.run(
            """
            UPDATE job SET leased_until = NULL, failures = failures + 1, problem = $3
            WHERE id = $1 AND token = $2 AND done_at IS NULL
            """, .integer(job.id), .integer(job.token), .text(problem))
    }

    /// Adds a job's transcript to its recording and finishes the job. May be called again if it is unknown whether the
    /// first call was committed.
    ///
    /// - Parameter reading: makes the transcript from the recording's shown timeline.
    /// - Returns: false if another machine has claimed the job; nothing is added then.
    func finish(
        _ job: OfficeJob, _ reading: (Timeline?) throws(DeviceError) -> GatheredTranscript
    ) throws(DeviceError) -> Bool {
        try connection.transaction { () throws(DeviceError) in
            let changed = try connection.run(
                """
                UPDATE job SET done_at = clock_timestamp(), leased_until = NULL
                WHERE id = $1 AND token = $2 AND done_at IS NULL
                """, .integer(job.id), .integer(job.token))
            guard changed == 1 else {
                // An earlier call may have been committed before its connection broke.
                return try connection.number(
                    "SELECT 1 FROM job WHERE id = $1 AND token = $2 AND done_at IS NOT NULL", .integer(job.id),
                    .integer(job.token)) == 1
            }
            try connection.run("SELECT 1 FROM recording WHERE id = $1 FOR UPDATE", .integer(job.recording))
            let new = try reading(try shownTimeline(of: job.recording))
            _ = try add([(job.recording, new)])
            try show([job.recording], from: [new])
            return true
        }
    }

    /// Returns the number of an engine's unfinished jobs, without those that were given up.
    func unfinished(_ engine: OfficeEngine) throws(DeviceError) -> Int {
        try connection.number(
            "SELECT count(*) FROM job WHERE engine = $1 AND done_at IS NULL AND failures < \(Self.maximumFailures)",
            .text(engine.label))
    }

    /// Returns the IDs of recordings whose jobs were given up, and the last failure of each.
    func failed(_ engine: OfficeEngine) throws(DeviceError) -> [(recording: Int, problem: String)] {
        try connection.rows(
            """
            SELECT recording, problem FROM job
            WHERE engine = $1 AND done_at IS NULL AND failures >= \(Self.maximumFailures) ORDER BY recording
            """, [.text(engine.label)]
        ) { ($0.integer(0), $0.text(1)) }
    }

    /// Makes jobs that were given up available again.
    func retry(_ engine: OfficeEngine) throws(DeviceError) {
        try connection.run(
            "UPDATE job SET failures = 0 WHERE engine = $1 AND done_at IS NULL AND failures > 0", .text(engine.label))
    }
}
