import Equipment
import Configuration
import Core
import Exporting
import Glibc
import Platform
import Recognizing

/// Files in, transcripts out: without daemon or archive.
enum TranscribeCommand: Command {
    static let name = "transcribe"
    static let summary = "Write down what is said in audio files."
    static let usage =
        "FILE... [--format F] [--output DIR] [--force] [--jobs N] [--pass live|final|fast|quick] [--alternatives N] [--engine E] [--model NAME|DIR] [--vocabulary FILE] [--hint H] [--punctuation P]"
    static let details = """
          FILE               audio of any format that libsndfile reads, any rate, any channels; M4A, MP4, MOV and WebM where
                             ffmpeg is installed; - is standard input
          --format F         \(TranscriptFormat.allCases.map(\.rawValue).joined(separator: ", ")); default text
          --output DIR       write DIR/talk.txt for talk.wav, and so on, instead of standard output
          --force            overwrite also what is not as it was last written there: what a person has corrected
          --jobs N           decode workers; default one a core, as far as memory goes
          --pass P           live; final, which pocketsphinx reads with twice as carefully, for four to five times the
                             CPU; fast or quick, which are one, for the smallest boards; default live
          --alternatives N   other readings a segment; default 3
          --engine E         \(EngineRegistry.forms); default
                             recognizer.engine
          --model NAME|DIR   a model that fieldscribe models lists, or its folder, of either engine; default
                             recognizer.model
          --vocabulary FILE  words and phrases to prefer, or a grammar; default recognizer.vocabulary
          --hint H           dictation, search (a few words) or confirmation (yes, no, numbers); default recognizer.hint
          --punctuation P    engine (as it writes), none, automatic (sentences), spoken (marks that were said) or both;
                             default recognizer.punctuation
        """
    static let options = (
        values: [
            "--format", "--output", "--jobs", "--pass", "--alternatives", "--engine", "--model", "--vocabulary",
            "--hint",
            "--punctuation",
        ],
        flags: ["--force"]
    )

    static func run(_ arguments: Arguments) async throws {
        let configuration = try arguments.recordingConfiguration()
        guard !arguments.rest.isEmpty else {
            throw UsageError("transcribe: name a file; see fieldscribe transcribe --help")
        }
        let jobs = try arguments.number("--jobs", in: 1...64, default: configuration.workerCount)
        let profile = try profile(arguments, configuration)
        let alternatives = try arguments.number("--alternatives", in: 0...100, default: 3)
        let format = try arguments.choice(
            "--format", of: TranscriptFormat.allCases, named: \.rawValue, default: .text)
        let output = try TranscriptOutput(
            folder: arguments["--output"], format: format, inputs: arguments.rest, isForced: arguments.has("--force"))
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
            output: output, punctuator: try arguments.punctuator(configuration),
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

    /// What has a single way of reading takes any name; the faster one of an engine has its name from PocketSphinx's, too.
    private static func profile(_ arguments: Arguments, _ configuration: Configuration) throws -> String {
        let engine = configuration.engine
        let name = try arguments.choice("--pass", of: EngineRegistry.profiles, named: { $0 }, default: "live")
        return engine.knowsProfiles && !engine.profiles.contains(name)
            ? engine.cost(in: configuration).faster ?? "live" : name
    }
}
