import Core
import Glibc
import System
import Transcripts

/// Claims recordings in an archive, and transcribes them again on this machine. Used on one thread.
package struct OfficeWork {
    /// When `run` returns: after one recording, when no recordings are left, or only after a signal.
    package enum StopCondition { case once, untilEmpty, never }

    /// For how many seconds to retry while the server is unavailable, not counting the attempts themselves.
    private static let retrySeconds = 600
    /// The number of consecutive failures after which the recordings are probably not the cause.
    private static let maximumConsecutiveFailures = 5
    /// The interval at which to look for new recordings, in seconds.
    private static let pollSeconds = 5

    private var archive: OfficeDatabase
    private let program: TranscriptionProgram
    private let lease: Int
    private let open: () throws(DeviceError) -> OfficeDatabase
    private let report: (String) -> Void
    private let reportResult: (String) -> Void
    private var consecutiveFailures = 0

    /// Connects to the archive and finds the program.
    ///
    /// - Parameters:
    ///   - address: a URI for libpq, `postgresql://...`.
    ///   - files: the path of the copies on this machine; nil for the path that the database stores.
    ///   - program: the path of the `fieldscribe` program; nil to search for it.
    ///   - engine: the engine; nil for the best one.
    ///   - lease: after a machine has not responded for this many seconds, another machine may claim its recording.
    ///   - report: called with a line for the user.
    ///   - reportResult: called with a line for each transcribed recording.
    /// - Throws: `DeviceError` that names the server, the folder or the program.
    package init(
        _ address: String, files: String?, timeout: ServerTimeout, program: String?, engine: String?, lease: Int,
        report: @escaping (String) -> Void, reportResult: @escaping (String) -> Void
    ) throws(DeviceError) {
        open = { () throws(DeviceError) in
            try OfficeDatabase(address, files: files, creates: false, timeout: timeout)
        }
        archive = try open()
        // Without this check, a missing folder would make every recording fail.
        _ = try Folder(opening: archive.filesPath, crossesMounts: true)
        self.program = try TranscriptionProgram(program, engine: engine)
        (self.lease, self.report, self.reportResult) = (lease, report, reportResult)
    }

    /// Makes recordings that failed three times available again.
    package func resetFailures() throws(DeviceError) { try archive.resetFailures(for: program.engine) }

    /// Returns the recordings that failed three times, each with its last problem.
    package mutating func failedRecordings() throws -> [(recording: Int, problem: String)] {
        let engine = program.engine
        return try retrying { (archive) throws(DeviceError) in try archive.failedRecordings(for: engine) }
    }

    /// Claims and transcribes recordings.
    ///
    /// - Throws: `CancellationError` if a signal asked the process to exit; `DeviceError` if this machine cannot continue.
    package mutating func run(until stopCondition: StopCondition) throws {
        let (engine, lease) = (program.engine, lease)
        report("transcribing with \(engine.label)")
        while !Interrupts.isRequested {
            let job = try retrying { (archive) throws(DeviceError) -> OfficeJob? in
                if let job = try archive.claim(engine, lease: lease) { return job }
                try archive.addJobs(for: engine)
                return try archive.claim(engine, lease: lease)
            }
            if let job {
                try transcribe(job)
                if stopCondition == .once { return }
                continue
            }
            if stopCondition == .once { return report("there is nothing to transcribe") }
            let remaining = try retrying { (archive) throws(DeviceError) in try archive.unfinishedCount(for: engine) }
            if stopCondition == .untilEmpty, remaining == 0 { return }
            // Other machines are transcribing the remaining recordings, which become available again if a machine fails.
            wait(min(lease, Self.pollSeconds))
        }
        throw CancellationError()
    }

    /// Waits for this number of seconds, or until a signal asks the process to exit.
    private func wait(_ seconds: Int) {
        for _ in 0..<seconds * 10 where !Interrupts.isRequested { usleep(100_000) }
    }

    private mutating func transcribe(_ job: OfficeJob) throws {
        let (recording, path) = try retrying { (archive) throws(DeviceError) in
            try (archive.recording(job.recording), archive.audioPath(of: job.recording))
        }
        guard let recording else { return }
        guard let path else {
            let problem = "no copy has audio from after the last redaction; gather one that has"
            report("fieldscribe-office: recording \(job.recording): \(problem)")
            return try retrying { (archive) throws(DeviceError) in try archive.fail(job, problem) }
        }
        do throws(DeviceError) {
            guard let transcript = try transcript(of: path, job) else { return }
            let timeline = try ParsedTranscript(transcript, name: path).timeline
            let engine = program.engine
            let isAccepted = try retrying { (archive) throws(DeviceError) in
                try archive.finish(job) { (base) throws(DeviceError) in
                    GatheredTranscript(timeline, by: engine, over: base, now: MonotonicClock.wallSeconds)
                }
            }
            consecutiveFailures = 0
            reportResult(
                isAccepted
                    ? "\(job.recording)  \(clockTime(recording.length))  \(recording.recorder.folder) \(recording.number)"
                    : "\(job.recording)  another machine has already transcribed it")
        } catch {
            // An error in the archive is not a failure of the recording.
            if error.subject == archive.name { throw error }
            report("fieldscribe-office: recording \(job.recording): \(error.message)")
            try retrying { (archive) throws(DeviceError) in try archive.fail(job, error.message) }
            _ = try Folder(opening: archive.filesPath, crossesMounts: true)
            consecutiveFailures += 1
            guard consecutiveFailures < Self.maximumConsecutiveFailures else {
                throw DeviceError(
                    .failed, "work", on: program.path, "failed for \(consecutiveFailures) recordings in a row",
                    remedy: "see the lines above, and run \(program.path) doctor")
            }
        }
    }

    /// Returns the transcript; nil if another machine has claimed the job, or the process should exit.
    private mutating func transcript(of path: String, _ job: OfficeJob) throws(DeviceError) -> [UInt8]? {
        guard FileStatus(path)?.kind == .file else {
            throw DeviceError(
                .missing, "open", status: ENOENT, on: path, "does not exist",
                remedy: "if the folder of the copies is elsewhere on this machine, use --files FOLDER")
        }
        var (isOurs, leaseStart) = (true, MonotonicClock.nanoseconds)
        let interval = Int64(max(1, lease / 3)) * 1_000_000_000
        var current = archive
        let (lease, open) = (lease, open)
        let (bytes, status) = try TranscriptionProgram.run(
            program.path,
            ["transcribe", "--format", "json", "--pass", "final", "--engine", program.engine.name, "--", path]
        ) { () throws(DeviceError) in
            if Interrupts.isRequested { return false }
            guard MonotonicClock.nanoseconds - leaseStart >= interval else { return true }
            leaseStart = MonotonicClock.nanoseconds
            do throws(DeviceError) { isOurs = try current.renew(job, lease: lease) } catch {
                // Continues, because the server may be restarting, and may still accept the transcript.
                if let reopened = try? open() { current = reopened }
            }
            return isOurs
        }
        archive = current
        if Interrupts.isRequested {
            try? archive.release(job)
            return nil
        }
        guard isOurs else {
            report("fieldscribe-office: recording \(job.recording): another machine has already claimed it")
            return nil
        }
        guard status == 0 else {
            throw DeviceError(
                .failed, "transcribe", on: path, "cannot be transcribed: \(program.path) exited with status \(status)",
                remedy: "look for another copy of it")
        }
        return bytes
    }

    /// Calls `body` with the archive. Reconnects and retries while the server is unavailable.
    private mutating func retrying<Value>(
        _ body: (OfficeDatabase) throws(DeviceError) -> Value
    ) throws(DeviceError) -> Value {
        var (isReported, seconds) = (false, 0)
        while true {
            do throws(DeviceError) { return try body(archive) } catch {
                guard error.code == .disconnected || error.code == .busy, seconds < Self.retrySeconds,
                    !Interrupts.isRequested
                else {
                    throw error
                }
                if !isReported {
                    report("fieldscribe-office: \(error.message); retrying for \(Self.retrySeconds / 60) minutes")
                }
                isReported = true
            }
            sleep(1)
            seconds += 1
            if let reopened = try? open() { archive = reopened }
        }
    }
}

extension GatheredTranscript {
    /// Creates a transcript with the annotations and redactions of `base`, which may be newer than the audio file.
    ///
    /// - Parameters:
    ///   - base: the recording's shown timeline; nil if there is none.
    ///   - now: the current time, in seconds since 1970-01-01T00:00:00Z.
    fileprivate init(_ timeline: Timeline, by engine: OfficeEngine, over base: Timeline?, now: Double) {
        var timeline = timeline
        timeline.pass = nil
        if let base {
            let redacted = base.gaps.redacted
            timeline.name = base.name
            timeline.gaps = base.gaps
            timeline.segments = timeline.segments.map { $0.redacted(redacted) }
            timeline.marks = base.marks
            timeline.annotations = base.annotations
            // The annotations name the speakers of `base`.
            timeline.speakers = base.speakers ?? timeline.speakers
        }
        // The digest is the same each time, so an engine adds only one transcript per number of redactions.
        let digest = Digest.of("read again by \(engine.label), struck \(timeline.gaps.redacted.count)")
        self.init(digest: digest, timeline: timeline, person: nil, madeAt: now)
    }
}
