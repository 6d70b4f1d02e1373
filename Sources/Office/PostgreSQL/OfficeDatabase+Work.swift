import Core
import System

// The queue of recordings to transcribe again. A machine that claims a job gets a lease, which expires if the machine does
// not renew it. Only the latest claim can finish a job. One transaction finishes the job and adds its transcript.
extension OfficeDatabase {
    private static let maximumFailures = 3

    /// The time, in nanoseconds, after which `addJobs(for:)` queries all recordings even if no copy was added. Merged
    /// transcripts from other archives may contain redactions, which require new jobs.
    private static let updateInterval: Int64 = 300_000_000_000

    /// The last query for recordings that need jobs.
    struct JobUpdate {
        fileprivate let engine: String
        /// The ID of the latest copy at that time.
        fileprivate let latestCopy: Int
        fileprivate let time: Int64
    }

    /// Adds jobs for recordings with audio that this engine and model have not transcribed since the last redaction; if
    /// the model is unknown, for all recordings with audio. The fallback engine with a known model also skips
    /// recordings that another engine has transcribed. Never adds the same job twice.
    ///
    /// Returns after one short query if no copy was added, because idle machines call this function every few seconds,
    /// and a query over 100,000 recordings takes half a second.
    func addJobs(for engine: OfficeEngine) throws(DeviceError) {
        let latestCopy = try connection.number("SELECT coalesce(max(id), 0) FROM copy")
        let now = MonotonicClock.nanoseconds
        if let lastJobUpdate, lastJobUpdate.engine == engine.label, lastJobUpdate.latestCopy == latestCopy,
            now - lastJobUpdate.time < Self.updateInterval
        {
            return
        }
        try insertJobs(for: engine)
        lastJobUpdate = JobUpdate(engine: engine.label, latestCopy: latestCopy, time: now)
    }

    private func insertJobs(for engine: OfficeEngine) throws(DeviceError) {
        // If the model is unknown, `$3` is NULL, and no transcript matches.
        var condition = "reading.engine = $2::text AND reading.timeline::json #>> '{engine,model}' = $3::text"
        if engine.name == OfficeEngine.fallback, engine.model != nil {
            condition += " OR reading.engine NOT IN ('', $2::text)"
        }
        _ = try connection.rows(
            """
            INSERT INTO job (recording, engine, struck)
            SELECT state.id, $1::text, state.struck FROM (
                SELECT recording.id, coalesce(latest.struck, 0) AS struck FROM recording
                LEFT JOIN (SELECT recording, max(struck) AS struck FROM reading GROUP BY recording) AS latest
                    ON latest.recording = recording.id
                WHERE EXISTS (SELECT 1 FROM copy WHERE copy.recording = recording.id AND \(Self.isTranscribable))) AS state
            WHERE NOT EXISTS (
                    SELECT 1 FROM job WHERE job.recording = state.id AND job.engine = $1::text AND job.struck = state.struck)
                AND NOT EXISTS (
                    SELECT 1 FROM reading WHERE reading.recording = state.id AND reading.person IS NULL
                        AND reading.struck = state.struck AND (\(condition)))
            ORDER BY state.id ON CONFLICT DO NOTHING
            """, [.text(engine.label), .text(engine.name), .optional(engine.model)]
        ) { _ in 0 }
    }

    /// Selects copies whose audio was made after the last redaction. Older audio contains the redacted words.
    private static let isTranscribable = """
        copy.audio <> '' AND NOT EXISTS (
            SELECT 1 FROM copy AS other WHERE other.recording = copy.recording AND other.struck > copy.struck)
        """

    /// Returns the path of the audio to transcribe; nil if there is none. The copy that the pages show may have
    /// no audio, so this may be another copy.
    func audioPath(of recording: Int) throws(DeviceError) -> String? {
        try connection.rows(
            """
            SELECT place, audio FROM copy WHERE recording = $1 AND \(Self.isTranscribable)
            ORDER BY \(GatheredCopy.preferredOrder) LIMIT 1
            """, [.integer(recording)]
        ) { "\(filesPath)/\($0.text(0))/\($0.text(1))" }.first
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

    /// Extends the lease of a job. Returns false if another machine has claimed or finished it.
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

    /// Returns a failed job to the queue. After `maximumFailures`, no machine can claim the job.
    ///
    /// - Parameter problem: the reason, in one line.
    func fail(_ job: OfficeJob, _ problem: String) throws(DeviceError) {
        try connection.run(
            """
            UPDATE job SET leased_until = NULL, failures = failures + 1, problem = $3
            WHERE id = $1 AND token = $2 AND done_at IS NULL
            """, .integer(job.id), .integer(job.token), .text(problem))
    }

    /// Adds a job's transcript to its recording and finishes the job. If the connection broke during a call, the call may
    /// be repeated.
    ///
    /// - Parameter makeTranscript: makes the transcript, given the recording's shown timeline.
    /// - Returns: false if another machine has claimed the job; nothing is added then.
    func finish(
        _ job: OfficeJob, _ makeTranscript: (Timeline?) throws(DeviceError) -> GatheredTranscript
    ) throws(DeviceError) -> Bool {
        try connection.transaction { () throws(DeviceError) in
            let changedCount = try connection.run(
                """
                UPDATE job SET done_at = clock_timestamp(), leased_until = NULL
                WHERE id = $1 AND token = $2 AND done_at IS NULL
                """, .integer(job.id), .integer(job.token))
            guard changedCount == 1 else {
                // A previous call may have been committed before its connection broke.
                return try connection.number(
                    "SELECT 1 FROM job WHERE id = $1 AND token = $2 AND done_at IS NOT NULL", .integer(job.id),
                    .integer(job.token)) == 1
            }
            try connection.run("SELECT 1 FROM recording WHERE id = $1 FOR UPDATE", .integer(job.recording))
            let transcript = try makeTranscript(try shownTimeline(of: job.recording))
            _ = try add([(job.recording, transcript)])
            try updateShownTranscripts(of: [job.recording], from: [transcript])
            return true
        }
    }

    /// Returns the number of an engine's unfinished jobs, without those that failed too often.
    func unfinishedCount(for engine: OfficeEngine) throws(DeviceError) -> Int {
        try connection.number(
            "SELECT count(*) FROM job WHERE engine = $1 AND done_at IS NULL AND failures < \(Self.maximumFailures)",
            .text(engine.label))
    }

    /// Returns the IDs of recordings whose jobs failed too often, and the last problem of each.
    func failedRecordings(for engine: OfficeEngine) throws(DeviceError) -> [(recording: Int, problem: String)] {
        try connection.rows(
            """
            SELECT recording, problem FROM job
            WHERE engine = $1 AND done_at IS NULL AND failures >= \(Self.maximumFailures) ORDER BY recording
            """, [.text(engine.label)]
        ) { ($0.integer(0), $0.text(1)) }
    }

    /// Forgets the failures of an engine's jobs, so that machines can claim the jobs again.
    func resetFailures(for engine: OfficeEngine) throws(DeviceError) {
        try connection.run(
            "UPDATE job SET failures = 0 WHERE engine = $1 AND done_at IS NULL AND failures > 0", .text(engine.label))
    }
}
