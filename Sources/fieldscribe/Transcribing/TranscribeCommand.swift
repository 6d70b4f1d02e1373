import Audio
import Core
import Glibc
import Maintenance
import Recognition
import Settings
import System
import Transcripts

enum TranscribeCommand: Command {
    static let name = "transcribe"
    static let summary = "Transcribe audio files."
    static let usage =
        "FILE... [--format F] [--output DIR] [--force] [--resume] [--jobs N] [--pass live|final|fast] [--alternatives N] [--engine E] [--model NAME|DIR] [--vocabulary FILE] [--hint H] [--punctuation P] [--speakers no|auto|N] [--channels 1|2] [--track N|all]"
    static let details = """
          FILE               audio that libsndfile reads, at any rate, mono or not; with ffmpeg installed also MP3, films and
                             more; - is standard input
          --format F         \(TranscriptFormat.allCases.map(\.rawValue).joined(separator: ", ")); default text
          --output DIR       write DIR/talk.txt for talk.wav, and so on, instead of standard output
          --force            also overwrite texts that somebody edited
          --resume           skip files whose text is in DIR and not older than the file
          --jobs N           decode workers; default one a core, as far as memory allows
          --pass P           live; final (pocketsphinx: a wider search for four to five times the CPU); fast (for the smallest
                             boards); default live
          --alternatives N   alternatives per segment; default 3
          --engine E         \(EngineRegistry.forms); default
                             recognizer.engine
          --model NAME|DIR   a model that fieldscribe models lists, or its folder; default recognizer.model
          --vocabulary FILE  words and phrases to prefer, or a grammar; default recognizer.vocabulary
          --hint H           dictation, search (a few words) or confirmation (yes, no, numbers); default recognizer.hint
          --punctuation P    engine (as the engine writes), none, automatic (sentences), spoken (as dictated) or both;
                             default recognizer.punctuation
          --speakers S       identify speakers: no, auto or their number, 1 to 12, with the model that deploy/model speakers
                             makes; default recognizer.speakers
          --channels 2       each channel of a stereo file is one person's microphone: the louder one tells who spoke,
                             without a model; 1 mixes them; default capture.channels
          --track N|all      the Nth track with sound of a film; all: two tracks are one person's microphone each, more are
                             mixed; default the track that players choose
        """
    static let options = (
        values: [
            "--format", "--output", "--jobs", "--pass", "--alternatives", "--engine", "--model", "--vocabulary",
            "--hint",
            "--punctuation", "--speakers", "--channels", "--track",
        ],
        flags: ["--force", "--resume"]
    )

    static func run(_ arguments: Arguments) async throws {
        var configuration = try arguments.recordingConfiguration()
        let track = try track(arguments)
        let channels = try arguments.number(
            "--channels", in: 1...2, default: track == .all ? 2 : configuration.capture.kept)
        if arguments["--channels"] != nil || track == .all, channels == 2, configuration.recognizer.speakers == .no {
            configuration.recognizer.speakers = .automatic
        }
        var telling = try speakers(arguments, &configuration, hasMicrophoneEach: channels == 2)
        telling?.track = track
        guard !arguments.rest.isEmpty else {
            throw UsageError("transcribe: name a file; see fieldscribe transcribe --help")
        }
        let jobs = try arguments.number("--jobs", in: 1...64, default: configuration.workerCount)
        let profile = try profile(arguments, configuration)
        let alternatives = try arguments.number("--alternatives", in: 0...100, default: 3)
        let format = try arguments.choice(
            "--format", of: TranscriptFormat.allCases, named: \.rawValue, default: .text)
        let output = try TranscriptOutput(
            folder: arguments["--output"], format: format, inputs: arguments.rest,
            pauseSeconds: configuration.export.pauseSeconds, isForced: arguments.has("--force"),
            resumes: arguments.has("--resume"))
        guard !arguments.has("--resume") || arguments["--output"] != nil else {
            throw UsageError("transcribe: --resume needs --output DIR, the folder of the texts")
        }
        let files = arguments.has("--resume") ? arguments.rest.filter { !output.isCurrent($0) } : arguments.rest
        if files.isEmpty { return }
        let pool = try workers(configuration, profile: profile, jobs: jobs)
        Interrupts.handle { _ in
            Terminal.say("fieldscribe: interrupted")
            exit(130)
        }
        let engine = try await pool.prepare()
        if let complaint = await pool.takeComplaint() { Terminal.say("fieldscribe: \(complaint.message)") }
        var settings = configuration.transcriberSettings(for: engine)
        settings.alternatives = alternatives
        let batch = TranscriptionBatch(
            pool: pool, engine: engine, settings: settings,
            isSecondPass: profile == SecondPass.profile,
            output: output, punctuator: try arguments.punctuator(configuration), telling: telling,
            hasMicrophoneEach: channels == 2, track: track,
            progress: ProgressBar(files: files.count))
        let status: Int32
        do { status = try await batch.run(files, jobs: jobs) } catch {
            await pool.finish()
            throw error
        }
        await pool.finish()
        if status != 0 { throw Ending(status: status) }
    }

    /// An engine chosen by name is not replaced by another one.
    private static func workers(_ configuration: Configuration, profile: String, jobs: Int) throws -> WorkerPool {
        guard configuration.recognizer.engine == EngineRegistry.automaticName else {
            return WorkerPool(try configuration.workerCommand(profile: profile), size: jobs)
        }
        return try configuration.workers(profile: profile, count: jobs)
    }

    /// Returns the process that identifies speakers; nil if that is off, or if the model is missing and no option asked for it.
    private static func speakers(
        _ arguments: Arguments, _ configuration: inout Configuration, hasMicrophoneEach: Bool
    ) throws -> DiarizationProcess? {
        if let asked = arguments["--speakers"] {
            guard let speakers = Configuration.Recognizer.Speakers(asked) else {
                throw UsageError(
                    "transcribe: --speakers \(asked): not a number of people; allowed: no, auto or 1 to 12")
            }
            configuration.recognizer.speakers = speakers
        }
        guard configuration.recognizer.speakers != .no else { return nil }
        let telling = DiarizationProcess(configuration)
        // Two microphones may identify speakers without a model; if they cannot, the job reports it later.
        guard !hasMicrophoneEach || configuration.recognizer.speakers.count ?? 2 != 2 else { return telling }
        do throws(DeviceError) { try telling.check() } catch {
            if arguments["--speakers"] != nil { throw error }
            Terminal.say("fieldscribe: \(error.message)")
            return nil
        }
        return telling
    }

    private static func track(_ arguments: Arguments) throws -> SoundTrack {
        guard let name = arguments["--track"] else { return .automatic }
        guard let track = SoundTrack(name) else {
            throw UsageError("transcribe: --track \(name): not a track; allowed: 1 to 99 or all")
        }
        return track
    }

    /// An engine without profiles accepts any name.
    private static func profile(_ arguments: Arguments, _ configuration: Configuration) throws -> String {
        let name = try arguments.choice("--pass", of: EngineRegistry.profiles, named: { $0 }, default: "live")
        let engine = configuration.engine
        return engine.knowsProfiles && !engine.profiles.contains(name) ? "live" : name
    }
}
