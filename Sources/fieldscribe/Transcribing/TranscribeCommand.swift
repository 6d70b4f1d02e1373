import Audio
import Core
import Maintenance
import Recognition
import Settings
import System
import Transcripts

enum TranscribeCommand: Command {
    static let name = "transcribe"
    static let summary = "Transcribe audio files."
    static let threads: Int? = 11
    private static let output = Option(
        "--output", "DIR",
        "write each transcript to a file, such as DIR/talk.txt for talk.wav; for html, also copy the sound, unless DIR has it in a format that browsers play",
        .folders)
    private static let force = Option.flag("--force", "also overwrite edited transcripts")
    private static let resume = Option.flag(
        "--resume", "skip files whose transcript is in DIR and not older than the file")
    private static let jobs = Option.number(
        "--jobs", "decode workers; default one per core, as far as memory allows", in: 1...64)
    private static let pass = Option.choice(
        "--pass", "P",
        of: EngineRegistry.profiles, named: { $0 }, default: "live",
        explanation:
            "live; final (fewer errors, at 1.5 times the CPU time with moonshine, four to five times with pocketsphinx); fast (for the smallest boards); default live"
    )
    private static let alternatives = Option.number(
        "--alternatives", "alternatives per segment", in: 0...100, default: 3)
    private static let speakers = Option.parsed(
        "--speakers", "S",
        "identify speakers: no, auto or their number, 1 to 12, with the model that deploy/model speakers makes; default recognizer.speakers",
        "not a number of people; allowed: no, auto or 1 to 12", .words(["no", "auto", "2", "3", "4"]),
        parse: Configuration.Recognizer.Speakers.init)
    static let channels = Option.number(
        "--channels",
        "2: each channel of a stereo file is one person's microphone, and the louder channel shows who spoke, without a model; 1: the channels are mixed; default capture.channels",
        in: 1...2)
    static let track = Option.parsed(
        "--track", "N|all",
        "the Nth audio track of a film; all: two tracks are one person's microphone each, more are mixed; default the track that players choose",
        "not a track; allowed: 1 to 99 or all", parse: SoundTrack.init)
    static let help: [any HelpPart] = [
        Argument(
            "FILE...",
            "audio files that libsndfile reads, with any sample rate and channels; with ffmpeg installed, also MP3, films and more; - for standard input",
            .files), Option.format, output, force, resume, jobs, pass, alternatives, Option.engine, Option.model,
        Option.vocabulary, Option.hint, Option.punctuation, speakers, channels, track,
    ]

    static func run(_ arguments: Arguments) async throws {
        var configuration = try arguments.configuration()
        let track = arguments[track] ?? .automatic
        let channels = arguments[channels] ?? (track == .all ? 2 : configuration.capture.recordedChannels)
        if arguments[Self.channels] != nil || track == .all, channels == 2, configuration.recognizer.speakers == .no {
            configuration.recognizer.speakers = .automatic
        }
        var diarization = try speakers(arguments, &configuration, hasMicrophoneEach: channels == 2)
        diarization?.track = track
        guard !arguments.rest.isEmpty else {
            throw arguments.usage("give at least one file")
        }
        let jobs = arguments[jobs] ?? configuration.workerCount
        let profiles = configuration.engine.profiles
        let profile = profiles.isEmpty || profiles.contains(arguments[pass]) ? arguments[pass] : "live"
        let output = try TranscriptOutput(
            folder: arguments[Self.output], format: arguments[.format], inputs: arguments.rest,
            pauseSeconds: configuration.export.pauseSeconds, isForced: arguments[force],
            resumes: arguments[resume], track: track)
        guard !arguments[resume] || arguments[Self.output] != nil else {
            throw UsageError("transcribe: --resume needs --output DIR, the folder of the transcripts")
        }
        let files = arguments[resume] ? arguments.rest.filter { !output.isCurrent($0) } : arguments.rest
        if files.isEmpty { return }
        let pool = try workers(configuration, profile: profile, jobs: jobs)
        Interrupts.exitOnRequest(printing: "fieldscribe: interrupted")
        let engine = try await pool.prepare()
        if let error = await pool.consumeEngineError() { Terminal.say("fieldscribe: \(error.message)") }
        var settings = configuration.transcriberSettings(for: engine, profile: profile)
        settings.alternatives = arguments[alternatives]
        let batch = TranscriptionBatch(
            pool: pool, engine: engine, settings: settings,
            isSecondPass: profile == SecondPass.profile,
            output: output, punctuator: arguments.punctuator(configuration), diarization: diarization,
            hasMicrophoneEach: channels == 2, track: track,
            progress: ProgressBar(files: files.count))
        let result = await Result.of { try await batch.run(files, jobs: jobs) }
        await pool.finish()
        let status = try result.get()
        if status != 0 { throw ExitError(status: status) }
    }

    /// Returns the worker pool. An engine that was chosen by name is never replaced by another one.
    private static func workers(_ configuration: Configuration, profile: String, jobs: Int) throws -> WorkerPool {
        guard configuration.recognizer.engine == EngineRegistry.automaticName else {
            return WorkerPool(try configuration.workerCommand(profile: profile), size: jobs)
        }
        return try configuration.workers(profile: profile, count: jobs)
    }

    /// Returns the process that identifies speakers; nil if this is off, or if the model cannot be used and
    /// `--speakers` was not given.
    private static func speakers(
        _ arguments: Arguments, _ configuration: inout Configuration, hasMicrophoneEach: Bool
    ) throws -> DiarizationProcess? {
        if let speakers = arguments[speakers] { configuration.recognizer.speakers = speakers }
        guard configuration.recognizer.speakers != .no else { return nil }
        let diarization = DiarizationProcess(configuration)
        // With two channels, a model may not be needed. If it is needed, the batch reports that it is missing.
        guard !hasMicrophoneEach || configuration.recognizer.speakers.count ?? 2 != 2 else { return diarization }
        do throws(DeviceError) { try diarization.check() } catch {
            if arguments[speakers] != nil { throw error }
            Terminal.say("fieldscribe: \(error.message)")
            return nil
        }
        return diarization
    }
}
