import Core
import Glibc
import System
import Transcripts

/// Claims and transcribes recordings on this machine. Used on one thread.
package struct OfficeWork {
    /// The condition on which `run` returns.
    package enum End { case once, untilEmpty, always }

    /// The time for which connecting to a database that is being restarted is retried, in seconds.
    private static let timeout = 600
    /// The number of failures in a row after which the recordings cannot be the cause.
    private static let maximumFailuresInARow = 5
    /// The interval for checking for new recordings, in seconds.
    private static let pause = 5

    private var archive: OfficeDatabase
    private let program: TranscriptionProgram
    private let lease: Int
    private let open: () throws(DeviceError) -> OfficeDatabase
    private let report: (String) -> Void
    private let reportResult: (String) -> Void
    private var failedInARow = 0

    /// Connects to the archive and finds the program.
    ///
    /// - Parameters:
    ///   - address: the database's address, `postgresql://...`.
    ///   - files: the folder of the copies; nil for the folder that the database specifies.
    ///   - timeout: the timeout for the server.
    ///   - program: the path of the `fieldscribe` program; nil to search for it.
    ///   - engine: the engine; nil for the best one.
    ///   - lease: the seconds after which another machine may claim the recording of a machine that does not respond.
    ///   - note: called with a line for the user.
    ///   - result: called with a line for each transcribed recording.
    /// - Throws: `DeviceError` with the name of the server, the folder or the program.
    package init(
        _ address: String, files: String?, timeout: ServerTimeout, program: String?, engine: String?, lease: Int,
        note: @escaping (String) -> Void, result: @escaping (String) -> Void
    ) throws(DeviceError) {
        open = { () throws(DeviceError) in
            try OfficeDatabase(address, files: files, creates: false, timeout: timeout)
        }
        archive = try open()
        // If the folder is missing, that must not count as failed recordings.
        _ = try Folder(opening: archive.files, crossesMounts: true)
        self.program = try TranscriptionProgram(program, engine: engine)
        (self.lease, report, reportResult) = (lease, note, result)
    }

    /// Makes recordings that failed three times available again.
    package func retry() throws(DeviceError) { try archive.retry(program.engine) }

    /// Returns the recordings that failed three times, each with the last problem.
    package mutating func failed() throws -> [(recording: Int, problem: String)] {
        let engine = program.engine
        return try retrying { (archive) throws(DeviceError) in try archive.failed(engine) }
    }

    /// Claims and transcribes recordings until the requested end.
    ///
    /// - Throws: `CancellationError` if a signal asked the process to exit; `DeviceError` if it cannot continue.
    package mutating func run(_ end: End) throws {
        let (engine, lease) = (program.engine, lease)
        report("transcribing with \(engine.label)")
        while !Interrupts.isRequested {
            let job = try retrying { (archive) throws(DeviceError) -> OfficeJob? in
                if let job = try archive.claim(engine, lease: lease) { return job }
                try archive.offer(engine)
                return try archive.claim(engine, lease: lease)
            }
            if let job {
                try transcribe(job)
                if end == .once { return }
                continue
            }
            if end == .once { return report("there is nothing to transcribe") }
            let remaining = try retrying { (archive) throws(DeviceError) in try archive.unfinished(engine) }
            if end == .untilEmpty, remaining == 0 { return }
            // Other machines are transcribing the remaining recordings; if one fails, its recording becomes available
            // again.
            wait(min(lease, Self.pause))
        }
        throw CancellationError()
    }

    private func wait(_ seconds: Int) {
        for _ in 0..<seconds * 10 where !Interrupts.isRequested { usleep(100_000) }
    }

    private mutating func transcribe(_ job: OfficeJob) throws {
        let recording = try retrying { (archive) throws(DeviceError) in try archive.recording(job.recording) }
        guard let recording else { return }
        let path = "\(archive.files)/\(recording.place)/\(recording.audio)"
        do throws(DeviceError) {
            guard let transcript = try transcript(of: path, job) else { return }
            let timeline = try ParsedTranscript(transcript, name: path).timeline
            let engine = program.engine
            let isAccepted = try retrying { (archive) throws(DeviceError) in
                try archive.finish(job) { (base) throws(DeviceError) in
                    GatheredTranscript(timeline, by: engine, over: base, now: MonotonicClock.wallSeconds)
                }
            }
            failedInARow = 0
            reportResult(
                isAccepted
                    ? "\(job.recording)  \(clockTime(recording.length))  \(recording.recorder.folder) \(recording.number)"
                    : "\(job.recording)  another machine has already transcribed it")
        } catch {
            // The archive failed, not the recording.
            if error.subject == archive.name { throw error }
            report("fieldscribe-office: recording \(job.recording): \(error.message)")
            try retrying { (archive) throws(DeviceError) in try archive.fail(job, error.message) }
            _ = try Folder(opening: archive.files, crossesMounts: true)
            failedInARow += 1
            guard failedInARow < Self.maximumFailuresInARow else {
                throw DeviceError(
                    .failed, "work", on: program.path, "failed for \(failedInARow) recordings in a row",
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
        var (isOurs, renewedAt) = (true, MonotonicClock.nanoseconds)
        let interval = Int64(max(1, lease / 3)) * 1_000_000_000
        var current = archive
        let (lease, open) = (lease, open)
        let (bytes, status) = try TranscriptionProgram.run(
            program.path,
            ["transcribe", "--format", "json", "--pass", "final", "--engine", program.engine.name, "--", path]
        ) { () throws(DeviceError) in
            if Interrupts.isRequested { return false }
            guard MonotonicClock.nanoseconds - renewedAt >= interval else { return true }
            renewedAt = MonotonicClock.nanoseconds
            do throws(DeviceError) { isOurs = try current.renew(job, lease: lease) } catch {
                // The server may be restarting. The archive may still accept the transcript.
                if let other = try? open() { current = other }
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
                guard error.code == .disconnected || error.code == .busy, seconds < Self.timeout,
                    !Interrupts.isRequested
                else {
                    throw error
                }
                if !isReported {
                    report("fieldscribe-office: \(error.message); trying for \(Self.timeout / 60) minutes")
                }
                isReported = true
            }
            sleep(1)
            seconds += 1
            if let other = try? open() { archive = other }
        }
    }
}

extension GatheredTranscript {
    /// Creates a transcript with the annotations and redactions of `base`, even if the sound was copied before a
    /// redaction.
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
            // People named the speakers of `base`.
            timeline.speakers = base.speakers ?? timeline.speakers
        }
        // Repeated runs add only one transcript per engine and number of redactions.
        let digest = Digest.of("read again by \(engine.label), struck \(timeline.gaps.redacted.count)")
        self.init(digest: digest, timeline: timeline, person: nil, madeAt: now)
    }
}
