import Core
import Glibc
import Recognition
import Settings
import System

enum DecodeWorkerCommand: Command {
    static let name = "decode-worker"
    static let summary = "Decode utterances from standard input."
    static let usage =
        "[--engine NAME] [--model FOLDER|FILE] [--timing-model FOLDER] [--language-model FILE] [--dictionary FILE] [--vocabulary FILE] [--learned DIR] [--cache DIR] [--hint H] [--profile NAME] [--copies N]"
    static let details =
        "Started by the other commands. Its protocol: Sources/Recognition/Workers/WorkerProtocol.swift."
    static let options = (
        values: [
            "--engine", "--model", "--timing-model", "--language-model", "--dictionary", "--vocabulary", "--learned",
            "--cache", "--hint", "--profile", "--copies",
        ],
        flags: [String]()
    )

    static func run(_ arguments: Arguments) async throws {
        // A terminal signals the whole group, but the parent decides when a worker ends.
        for number in [SIGINT, SIGQUIT, SIGHUP] { signal(number, SIG_IGN) }
        // If memory runs out, the kernel kills a worker, not the recorder, whose score it inherited.
        if let score = try? FileDescriptor(opening: "/proc/self/oom_score_adj", O_WRONLY) {
            Array("500".utf8).withUnsafeBytes { try? score.write($0) }
        }
        try arguments.expect(0, "nothing else")
        let engine = try arguments.choice(
            "--engine", of: EngineRegistry.all, named: \.name, default: EngineRegistry.usual)
        var options = WorkerOptions()
        options.profile = arguments["--profile"] ?? options.profile
        options.model = arguments["--model"]
        options.timingModel = arguments["--timing-model"]
        options.languageModel = arguments["--language-model"]
        options.dictionary = arguments["--dictionary"]
        options.vocabulary = arguments["--vocabulary"]
        options.learned = arguments["--learned"]
        options.cache = arguments["--cache"] ?? options.cache
        options.hint = try arguments.choice(
            "--hint", of: Configuration.Recognizer.Hint.allCases, named: \.rawValue, default: options.hint)
        options.tell = { Terminal.say("fieldscribe: \($0)") }
        try serve(
            engine.provider(options),
            copies: arguments.number("--copies", in: 0...ProcessCopies.most, default: 0))
    }

    private static func serve(_ provider: any RecognizerProvider, copies: Int) throws {
        var worker = DecodeWorker(
            input: FileDescriptor(adopting: STDIN_FILENO, named: "standard input"),
            output: FileDescriptor(adopting: STDOUT_FILENO, named: "standard output"))
        // The parent knows the error or is gone. A forked copy has no other thread to end it, so it exits here.
        do { try worker.serve(provider, copies: copies) } catch let error as DeviceError { _exit(error.exitStatus) }
        _exit(0)
    }
}
