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
        "--engine", "NAME", of: EngineRegistry.all, named: \.name, default: EngineRegistry.usual)
    private static let timingModel = Option("--timing-model", "FOLDER", "the model for times of words", .folders)
    private static let languageModel = Option("--language-model", "FILE", "PocketSphinx's language model", .files)
    private static let dictionary = Option("--dictionary", "FILE", "PocketSphinx's dictionary", .files)
    private static let learned = Option("--learned", "DIR", "the folder of learned.txt", .folders)
    private static let cache = Option("--cache", "DIR", "the folder of prepared language models", .folders)
    private static let profile = Option("--profile", "NAME", "how wide to search")
    private static let copies = Option.number(
        "--copies", "copies of this process", in: 0...ProcessCopies.most, default: 0)
    static let help: [any HelpPart] = [
        "Started by the other commands. Its protocol: Sources/Recognition/Workers/WorkerProtocol.swift.",
        engine, Option.model, timingModel, languageModel, dictionary, Option.vocabulary, learned, cache, Option.hint,
        profile, copies,
    ]

    static func run(_ arguments: Arguments) async throws {
        // A terminal signals the whole group, but the parent decides when a worker ends.
        for number in [SIGINT, SIGQUIT, SIGHUP] { signal(number, SIG_IGN) }
        // If memory runs out, the kernel kills a worker, not the recorder, whose score it inherited.
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
        options.tell = { Terminal.say("fieldscribe: \($0)") }
        try serve(
            arguments[engine].provider(options), copies: arguments[copies])
    }

    private static func serve(_ provider: any RecognizerProvider, copies: Int) throws {
        var worker = DecodeWorker(
            input: FileDescriptor(adopting: STDIN_FILENO, named: "standard input"),
            output: FileDescriptor(adopting: STDOUT_FILENO, named: "standard output"))
        // The parent has the error or is gone. A forked copy has no other thread to end it, so it exits here.
        do { try worker.serve(provider, copies: copies) } catch let error as DeviceError { _exit(error.exitStatus) }
        _exit(0)
    }
}
