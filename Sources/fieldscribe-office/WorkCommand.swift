import Core
import FoundationEssentials
import Glibc
import Office
import System
import Transcripts

/// Transcribes recordings again.
enum WorkCommand: Command {
    static let name = "work"
    static let summary = "Transcribe recordings again with this machine's best engine."
    private static let once = Option.flag("--once", "transcribe one recording, then exit")
    private static let untilEmpty = Option.flag("--until-empty", "exit when all machines have transcribed everything")
    private static let engine = Option(
        "--engine", "E", "an engine of fieldscribe transcribe; default the best that is installed here")
    private static let retry = Option.flag("--retry", "retry recordings that failed three times")
    private static let lease = Option.number(
        "--lease",
        "give a machine's recording to another after so long without a sign of it, 2 to 86,400", in: 2...86_400,
        default: 60, as: "SECONDS")
    private static let program = Option(
        "--program", "FILE",
        "the fieldscribe program to run; default the one beside this program, else the one in PATH", .files)
    static let help: [any HelpPart] = [
        """
        Runs fieldscribe transcribe on each recording that this engine, or a better one, has not transcribed, and adds the result
        as another transcript. Corrections stay, and are still shown. Several machines can work on one archive in PostgreSQL: each
        recording goes to one of them, and to another if that one is switched off. Without --once or --until-empty, waits for new
        recordings until you stop it.
        """,
        once, untilEmpty, engine, retry, lease, program, Option.archive, Option.files,
        "Exit status: 0 finished; 1 it could not continue; 4 some recordings failed three times, and are named.",
    ]

    static func run(_ arguments: Arguments) throws {
        guard !arguments[once] || !arguments[untilEmpty] else {
            throw arguments.usage("choose --once or --until-empty")
        }
        guard let address = ArchiveChoice.name(arguments), OfficeDatabase.isAddress(address) else {
            throw arguments.usage("it needs an archive in PostgreSQL: --archive postgresql://...")
        }
        let open = { () throws(DeviceError) in
            try OfficeDatabase(address, files: arguments[.files], makes: false, timeout: ArchiveChoice.timeout())
        }
        let archive = try open()
        // A missing folder must not count as a failure of recordings.
        _ = try Folder(opening: archive.files, crosses: true)
        let program = try ReadingProgram(arguments[program], engine: arguments[engine])
        Interrupts.handle()
        var work = OfficeWork(archive, program, lease: arguments[lease], open: open)
        if arguments[retry] { try archive.retry(program.engine) }
        try work.run(arguments[once] ? .once : arguments[untilEmpty] ? .untilEmpty : .always)
        let failed = try work.failed()
        for (recording, problem) in failed {
            Terminal.say("fieldscribe-office: recording \(recording) failed three times: \(oneLine(problem))")
        }
        if !failed.isEmpty { throw Ending(status: 4) }
    }
}

/// The `fieldscribe` program and the engine that transcribe.
private struct ReadingProgram {
    let path: String
    let engine: ReadingEngine

    private static let maxBytes = 512 << 20

    /// An entry of `fieldscribe models --json`.
    private struct Model: Decodable {
        var name: String
        var engine: String
        var sha256: String
        var isChosen: Bool
        var problems: [String]
    }

    /// - Parameters:
    ///   - named: the program's path; nil to search for it.
    ///   - asked: the engine; nil for the best.
    /// - Throws: `DeviceError` with `missing` if there is no such program, or no model.
    init(_ named: String?, engine asked: String?) throws(DeviceError) {
        path = try Self.find(named)
        if let asked {
            engine = ReadingEngine(name: asked, model: nil, label: asked)
            return
        }
        var (answer, status) = ([UInt8](), Int32(0))
        try Self.ask(path, ["models", "--json"], takes: &answer, &status) { () throws(DeviceError) in true }
        let models = (try? JSONDecoder().decode([Model].self, from: Data(JSONStrings.check(answer)))) ?? []
        guard status == 0, let model = models.first(where: \.isChosen), model.problems.isEmpty else {
            throw DeviceError(
                .missing, "models", on: path, "has no model", remedy: "see \(path) models, and doctor")
        }
        engine = ReadingEngine(
            name: model.engine, model: model.name, label: "\(model.engine) \(model.name) \(model.sha256.prefix(12))")
    }

    private static func find(_ named: String?) throws(DeviceError) -> String {
        let name = "fieldscribe"
        var paths: [String] = []
        if let named {
            paths = [named]
        } else {
            if let own = try? realPath("/proc/self/exe") {
                paths.append("\(own.split(separator: "/").dropLast().map { "/\($0)" }.joined())/\(name)")
            }
            let folders = getenv("PATH").map { String(cString: $0) } ?? ""
            paths += folders.split(separator: ":").map { "\($0)/\(name)" }
        }
        if let found = paths.first(where: { access($0, X_OK) == 0 && FileStatus($0)?.kind == .file }) { return found }
        throw DeviceError(
            .missing, "access", on: named ?? name, "is not installed",
            remedy: "install the package fieldscribe, or name its program with --program FILE")
    }

    /// Runs the program and collects its output.
    ///
    /// - Parameter shouldContinue: called each second; if it returns false, the program is killed.
    static func ask(
        _ path: String, _ arguments: [String], takes bytes: inout [UInt8], _ status: inout Int32,
        shouldContinue: () throws(DeviceError) -> Bool
    ) throws(DeviceError) {
        let child = try ChildProcess(path, arguments: arguments)
        child.closeInput()
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { room.deallocate() }
        while true {
            // `ChildProcess` kills the program in its `deinit`.
            guard try shouldContinue() else {
                status = 128 + SIGKILL
                return
            }
            let count: Int
            do throws(DeviceError) { count = try child.read(into: room, timeoutSeconds: 1) } catch {
                guard error.status == ETIMEDOUT else { throw error }
                continue
            }
            if count == 0 { break }
            guard bytes.count + count <= maxBytes else {
                throw DeviceError(.failed, "read", on: path, "wrote more than a transcript can have")
            }
            bytes += room[..<count]
        }
        status = try child.exitStatus(timeoutSeconds: 60)
    }
}

/// Claims and transcribes recordings on this machine. Used on one thread.
private struct OfficeWork {
    enum End { case once, untilEmpty, always }

    /// How long to retry a database that is being restarted, in seconds.
    private static let timeout = 600
    /// After so many failures in a row, the cause is not the recordings.
    private static let maxInARow = 5
    /// The interval for checking for new recordings, in seconds.
    private static let pause = 5

    private var archive: any OfficeQueue
    private let program: ReadingProgram
    private let lease: Int
    private let open: () throws(DeviceError) -> any OfficeQueue
    private var failedInARow = 0

    init(
        _ archive: any OfficeQueue, _ program: ReadingProgram, lease: Int,
        open: @escaping () throws(DeviceError) -> any OfficeQueue
    ) {
        self.archive = archive
        self.program = program
        self.lease = lease
        self.open = open
    }

    mutating func failed() throws -> [(recording: Int, problem: String)] {
        let engine = program.engine
        return try retrying { (archive) throws(DeviceError) in try archive.failed(engine) }
    }

    mutating func run(_ end: End) throws {
        let (engine, lease) = (program.engine, lease)
        Terminal.say("reading with \(engine.label)")
        while !Interrupts.isRequested {
            let job = try retrying { (archive) throws(DeviceError) -> OfficeJob? in
                if let job = try archive.claim(engine, lease: lease) { return job }
                try archive.offer(engine)
                return try archive.claim(engine, lease: lease)
            }
            if let job {
                try read(job)
                if end == .once { return }
                continue
            }
            if end == .once { return Terminal.say("nothing is to be read") }
            let left = try retrying { (archive) throws(DeviceError) in try archive.unfinished(engine) }
            if end == .untilEmpty, left == 0 { return }
            // Other machines have the remaining recordings, or will return them.
            wait(min(lease, Self.pause))
        }
        throw Ending(status: 130)
    }

    private func wait(_ seconds: Int) {
        for _ in 0..<seconds * 10 where !Interrupts.isRequested { usleep(100_000) }
    }

    private mutating func read(_ job: OfficeJob) throws {
        let recording = try retrying { (archive) throws(DeviceError) in try archive.recording(job.recording) }
        guard let recording else { return }
        let path = "\(archive.files)/\(recording.place)/\(recording.audio)"
        do throws(DeviceError) {
            guard let transcript = try transcript(of: path, job) else { return }
            let timeline = try ReadAgain.timeline(transcript, name: path)
            let engine = program.engine
            let isKept = try retrying { (archive) throws(DeviceError) in
                try archive.finish(job) { (base) throws(DeviceError) in
                    ReadAgain.reading(timeline, by: engine, over: base, now: MonotonicClock.wallSeconds)
                }
            }
            failedInARow = 0
            try? Terminal.print(
                isKept
                    ? "\(job.recording)  \(clockTime(recording.length))  \(recording.recorder.folder) \(recording.number)\n"
                    : "\(job.recording)  another machine has transcribed it meanwhile\n")
        } catch {
            // An error of the archive is not the recording's.
            if error.subject == archive.name { throw error }
            Terminal.say("fieldscribe-office: recording \(job.recording): \(error.message)")
            try retrying { (archive) throws(DeviceError) in try archive.fail(job, error.message) }
            _ = try Folder(opening: archive.files, crosses: true)
            failedInARow += 1
            guard failedInARow < Self.maxInARow else {
                throw DeviceError(
                    .failed, "work", on: program.path, "failed for \(failedInARow) recordings in a row",
                    remedy: "see the lines above, and \(program.path) doctor")
            }
        }
    }

    /// Returns the transcript; nil if the job is no longer ours, or the process should exit.
    private mutating func transcript(of path: String, _ job: OfficeJob) throws(DeviceError) -> [UInt8]? {
        guard FileStatus(path)?.kind == .file else {
            throw DeviceError(
                .missing, "open", status: ENOENT, on: path, "is not there",
                remedy: "name the folder of the copies with --files FOLDER, if that is elsewhere here")
        }
        var (bytes, status) = ([UInt8](), Int32(0))
        var (isOurs, renewed) = (true, MonotonicClock.nanoseconds)
        let interval = Int64(max(1, lease / 3)) * 1_000_000_000
        var current = archive
        let (lease, open) = (lease, open)
        try ReadingProgram.ask(
            program.path,
            ["transcribe", "--format", "json", "--pass", "final", "--engine", program.engine.name, "--", path],
            takes: &bytes, &status
        ) { () throws(DeviceError) in
            if Interrupts.isRequested { return false }
            guard MonotonicClock.nanoseconds - renewed >= interval else { return true }
            renewed = MonotonicClock.nanoseconds
            do throws(DeviceError) { isOurs = try current.renew(job, lease: lease) } catch {
                // The server may be restarting; the transcript may still be accepted.
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
            Terminal.say("fieldscribe-office: recording \(job.recording): another machine has claimed it meanwhile")
            return nil
        }
        guard status == 0 else {
            throw DeviceError(
                .failed, "transcribe", on: path, "cannot be read: \(program.path) ended with status \(status)",
                remedy: "look for another copy of it")
        }
        return bytes
    }

    /// Calls `body` with the archive; reconnects and retries while the server is unavailable.
    private mutating func retrying<Value>(
        _ body: (any OfficeQueue) throws(DeviceError) -> Value
    ) throws(DeviceError) -> Value {
        var (isTold, seconds) = (false, 0)
        while true {
            do throws(DeviceError) { return try body(archive) } catch {
                guard error.code == .disconnected || error.code == .busy, seconds < Self.timeout,
                    !Interrupts.isRequested
                else {
                    throw error
                }
                if !isTold {
                    Terminal.say("fieldscribe-office: \(error.message); trying for \(Self.timeout / 60) minutes")
                }
                isTold = true
            }
            sleep(1)
            seconds += 1
            if let other = try? open() { archive = other }
        }
    }
}
