import Commands
import Equipment
import Configuration
import Core
import Exporting
import Glibc
import Platform
import Recognizing
import Upkeep

/// Files in, transcripts out: without daemon or archive.
enum TranscribeCommand: Command {
    static let name = "transcribe"
    static let summary = "Transcribe audio files."
    static let usage =
        "FILE... [--format F] [--output DIR] [--force] [--jobs N] [--pass live|final|fast] [--alternatives N] [--engine E] [--model NAME|DIR] [--vocabulary FILE] [--hint H] [--punctuation P] [--speakers no|auto|N] [--channels 1|2]"
    static let details = """
          FILE               audio in any format that libsndfile reads, at any rate, mono or not; M4A, MP4, MOV and WebM if
                             ffmpeg is installed; - is standard input
          --format F         \(TranscriptFormat.allCases.map(\.rawValue).joined(separator: ", ")); default text
          --output DIR       write DIR/talk.txt for talk.wav, and so on, instead of standard output
          --force            also overwrite texts that somebody has changed since they were written
          --jobs N           decode workers; default one per core, as far as memory allows
          --pass P           live; final, with which pocketsphinx searches wider, for four to five times the
                             CPU; fast, for the smallest boards; default live
          --alternatives N   alternatives per segment; default 3
          --engine E         \(EngineRegistry.forms); default
                             recognizer.engine
          --model NAME|DIR   a model that fieldscribe models lists, or its folder, of either engine; default
                             recognizer.model
          --vocabulary FILE  words and phrases to prefer, or a grammar; default recognizer.vocabulary
          --hint H           dictation, search (a few words) or confirmation (yes, no, numbers); default recognizer.hint
          --punctuation P    engine (as it writes), none, automatic (sentences), spoken (as dictated) or both;
                             default recognizer.punctuation
          --speakers S       who spoke: no, auto or of how many people, 1 to 12, with the model that deploy/model speakers
                             makes; default recognizer.speakers
          --channels 2       each channel of a stereo file is one person's microphone: the louder one tells who spoke,
                             without a model; 1 mixes them; default capture.channels
        """
    static let options = (
        values: [
            "--format", "--output", "--jobs", "--pass", "--alternatives", "--engine", "--model", "--vocabulary",
            "--hint",
            "--punctuation", "--speakers", "--channels",
        ],
        flags: ["--force"]
    )

    static func run(_ arguments: Arguments) async throws {
        var configuration = try arguments.recordingConfiguration()
        let channels = try arguments.number("--channels", in: 1...2, default: configuration.capture.kept)
        if arguments["--channels"] != nil, channels == 2, configuration.recognizer.speakers == .no {
            configuration.recognizer.speakers = .automatic
        }
        let telling = try speakers(arguments, &configuration, hasMicrophoneEach: channels == 2)
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
            pauseSeconds: configuration.export.pauseSeconds, isForced: arguments.has("--force"))
        let pool = try workers(configuration, profile: profile, jobs: jobs)
        let interrupts = Interrupts { _ in
            Terminal.say("fieldscribe: interrupted")
            exit(130)
        }
        defer { withExtendedLifetime(interrupts) {} }
        let engine = try await pool.prepare()
        if let complaint = await pool.takeComplaint() { Terminal.say("fieldscribe: \(complaint.message)") }
        var settings = configuration.transcriberSettings(for: engine)
        settings.alternatives = alternatives
        let batch = TranscriptionBatch(
            pool: pool, engine: engine, settings: settings,
            isSecondPass: profile == SecondPass.profile,
            output: output, punctuator: try arguments.punctuator(configuration), telling: telling,
            hasMicrophoneEach: channels == 2,
            progress: ProgressBar(files: arguments.rest.count))
        let status: Int32
        do { status = try await batch.run(arguments.rest, jobs: jobs) } catch {
            await pool.finish()
            throw error
        }
        await pool.finish()
        if status != 0 { throw Ending(status: status) }
    }

    /// Who names an engine wants that one and no other.
    private static func workers(_ configuration: Configuration, profile: String, jobs: Int) throws -> WorkerPool {
        guard configuration.recognizer.engine == EngineRegistry.automaticName else {
            return WorkerPool(try configuration.workerCommand(profile: profile), size: jobs)
        }
        return try configuration.workers(profile: profile, count: jobs)
    }

    /// What tells who spoke; nil where nobody wants to know, or, as a line says, where there is no model and nobody has asked just now.
    private static func speakers(
        _ arguments: Arguments, _ configuration: inout Configuration, hasMicrophoneEach: Bool
    ) throws -> SpeakerTelling? {
        if let asked = arguments["--speakers"] {
            guard let speakers = Configuration.Recognizer.Speakers(asked) else {
                throw UsageError(
                    "transcribe: --speakers \(asked): not a number of people; allowed: no, auto or 1 to 12")
            }
            configuration.recognizer.speakers = speakers
        }
        guard configuration.recognizer.speakers != .no else { return nil }
        let telling = SpeakerTelling(configuration)
        // Two microphones may tell it without a model; where they do not, there is still time to say so.
        guard !hasMicrophoneEach || configuration.recognizer.speakers.count ?? 2 != 2 else { return telling }
        do throws(DeviceError) { try telling.check() } catch {
            if arguments["--speakers"] != nil { throw error }
            Terminal.say("fieldscribe: \(error.message)")
            return nil
        }
        return telling
    }

    /// What has a single way of reading takes any name.
    private static func profile(_ arguments: Arguments, _ configuration: Configuration) throws -> String {
        let name = try arguments.choice(
            "--pass", of: EngineRegistry.profiles, named: { $0 }, default: "live", former: EngineRegistry.formerProfiles
        )
        let engine = configuration.engine
        return engine.knowsProfiles && !engine.profiles.contains(name) ? "live" : name
    }
}
