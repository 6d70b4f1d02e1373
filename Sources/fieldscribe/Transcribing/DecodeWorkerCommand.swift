import Core
import Glibc
import Recognition
import Settings
import System

enum DecodeWorkerCommand: Command {
    static let name = "decode-worker"
    static let summary = "Decode utterances from standard input."
    static let threads: Int? = nil
    private static let engine = Option.choice(
        "--engine", "NAME", of: EngineRegistry.all, named: \.name, default: EngineRegistry.defaultEngine)
    private static let timingModel = Option(
        "--timing-model", "FOLDER", "the model that finds the times of words", .folders)
    private static let languageModel = Option("--language-model", "FILE", "PocketSphinx's language model", .files)
    private static let dictionary = Option("--dictionary", "FILE", "PocketSphinx's dictionary", .files)
    private static let learned = Option("--learned", "DIR", "the folder of learned.txt", .folders)
    private static let cache = Option("--cache", "DIR", "the folder of prepared language models", .folders)
    private static let profile = Option("--profile", "NAME", "the search profile")
    private static let copies = Option.number(
        "--copies", "the number of copies of this process to fork", in: 0...ProcessCopies.maximumCount, default: 0)
    static let help: [any HelpPart] = [
        "Started by the other commands. For the protocol, see Sources/Recognition/Workers/WorkerProtocol.swift.",
        engine, Option.model, timingModel, languageModel, dictionary, Option.vocabulary, learned, cache, Option.hint,
        profile, copies,
    ]

    static func run(_ arguments: Arguments) async throws {
        // A terminal signals the whole process group, but the parent decides when a worker exits.
        for number in [SIGINT, SIGQUIT, SIGHUP] { signal(number, SIG_IGN) }
        // If memory runs out, the kernel should kill a worker, not the recorder, whose score the worker inherited.
        if let score = try? FileDescriptor(opening: "/proc/self/oom_score_adj", O_WRONLY) {
            Array("500".utf8).withUnsafeBytes { try? score.write($0) }
        }
        var options = WorkerOptions()
        options.profile = arguments[profile] ?? options.profile
        options.model = arguments[.model]
        options.timingModel = arguments[timingModel]
        options.languageModel = arguments[languageModel]
        options.dictionary = arguments[dictionary]
        options.vocabulary = arguments[.vocabulary]
        options.learned = arguments[learned]
        options.cache = arguments[cache]
        options.hint = arguments[.hint] ?? options.hint
        options.report = { Terminal.say("fieldscribe: \($0)") }
        try serve(
            arguments[engine].provider(options), copies: arguments[copies])
    }

    private static func serve(_ provider: any RecognizerProvider, copies: Int) {
        var worker = DecodeWorker(
            input: FileDescriptor(adopting: STDIN_FILENO, named: "standard input"),
            output: FileDescriptor(adopting: STDOUT_FILENO, named: "standard output"))
        // The parent has received the error or has exited. A forked copy has no other threads, so it must exit here.
        do { try worker.serve(provider, copies: copies) } catch { _exit(DeviceError(wrapping: error).exitStatus) }
        _exit(0)
    }
}
