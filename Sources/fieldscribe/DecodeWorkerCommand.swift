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
    static let usage = "--model FOLDER [--language-model FILE] [--dictionary FILE] [--profile NAME]"
    static let details = "Started by the other commands. Its protocol: Sources/Recognizing/WorkerProtocol.swift."
    static let options = (
        values: ["--model", "--language-model", "--dictionary", "--profile"], flags: [String]()
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
            try worker.serve(PocketSphinxRecognizer.Provider(model: model, profile: profile))
        } catch let error as DeviceError {
            // The parent was told, or is gone.
            throw Ending(status: error.exitStatus)
        }
    }
}
