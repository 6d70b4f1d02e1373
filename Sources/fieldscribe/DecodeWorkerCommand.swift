import Appliance
import Core
import Glibc
import Platform
import PocketSphinxRecognizer
import Recognizing

/// Hidden: the process in which the recognizer lives.
enum DecodeWorkerCommand: Command {
    static let name = "decode-worker"
    static let summary = "Read utterances from standard input, write what was said to standard output."
    static let usage =
        "--model FOLDER [--language-model FILE] [--dictionary FILE] [--vocabulary FILE --cache DIR] [--profile NAME]"
    static let details = "Started by the other commands. Its protocol: Sources/Recognizing/WorkerProtocol.swift."
    static let options = (
        values: ["--model", "--language-model", "--dictionary", "--vocabulary", "--cache", "--profile"],
        flags: [String]()
    )
    static let isHidden = true

    static func run(_ arguments: Arguments) async throws {
        // Ctrl-C reaches the whole group; the parent decides when a worker ends.
        signal(SIGINT, SIG_IGN)
        // Where memory runs out a worker ends, not the recorder, whose score it has inherited.
        if let score = try? FileDescriptor(opening: "/proc/self/oom_score_adj", O_WRONLY) {
            Array("500".utf8).withUnsafeBytes { try? score.write($0) }
        }
        try arguments.expect(0, "nothing else")
        let profile = try arguments.choice(
            "--profile", of: DecoderProfile.all, named: \.name, default: .live)
        let model = PocketSphinxModel(
            folder: arguments["--model"] ?? PocketSphinxModel.debian, languageModel: arguments["--language-model"],
            dictionary: arguments["--dictionary"])
        var worker = DecodeWorker(
            input: FileDescriptor(adopting: STDIN_FILENO, named: "standard input"),
            output: FileDescriptor(adopting: STDOUT_FILENO, named: "standard output"))
        do {
            try worker.serve(
                PreparedProvider(
                    model: model, profile: profile, vocabulary: arguments["--vocabulary"],
                    cache: arguments["--cache"] ?? "."))
        } catch let error as DeviceError {
            // The parent was told, or is gone.
            throw Ending(status: error.exitStatus)
        }
    }
}

/// Makes the person's vocabulary ready, where there is one, and then loads the engine: all of it in this process, so that
/// neither can reach a recording.
private struct PreparedProvider: RecognizerProvider {
    var model: PocketSphinxModel
    var profile: DecoderProfile
    var vocabulary: String?
    var cache: String

    func open() throws(DeviceError) -> any Recognizer {
        guard let vocabulary else { return try PocketSphinxRecognizer(model: model, profile: profile) }
        try model.check()
        let (prepared, outcome) = try model.prepare(vocabulary, keptIn: cache)
        for problem in outcome.report?.problems ?? [] {
            Terminal.say("fieldscribe: \(vocabulary):\(problem.line): \(problem.reason)")
        }
        return try PocketSphinxRecognizer(model: prepared, profile: profile)
    }
}
