import Appliance
import Core
import Glibc
import Platform
import PocketSphinxRecognizer
import Recognizing
import Vocabulary
import WhisperRecognizer

/// Hidden: the process in which the recognizer lives.
enum DecodeWorkerCommand: Command {
    static let name = "decode-worker"
    static let summary = "Read utterances from standard input, write what was said to standard output."
    static let usage =
        "--whisper-model FILE | --model FOLDER [--language-model FILE] [--dictionary FILE] [--vocabulary FILE] [--cache DIR] [--hint H] [--profile NAME] [--copies N]"
    static let details = "Started by the other commands. Its protocol: Sources/Recognizing/WorkerProtocol.swift."
    static let options = (
        values: [
            "--whisper-model", "--model", "--language-model", "--dictionary", "--vocabulary", "--cache", "--hint",
            "--profile", "--copies",
        ],
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
        if let path = arguments["--whisper-model"] {
            return try serve(WhisperProvider(model: WhisperModel(path: path)))
        }
        let profile = try arguments.choice(
            "--profile", of: DecoderProfile.all, named: \.name, default: .live)
        let hint = try arguments.choice(
            "--hint", of: Configuration.Recognizer.Hint.allCases, named: \.rawValue, default: .dictation)
        let model = PocketSphinxModel(
            folder: arguments["--model"] ?? PocketSphinxModel.debian, languageModel: arguments["--language-model"],
            dictionary: arguments["--dictionary"])
        try serve(
            PreparedProvider(
                model: model, profile: profile, hint: hint, vocabulary: arguments["--vocabulary"],
                cache: arguments["--cache"] ?? "."),
            copies: arguments.number("--copies", in: 0...ProcessCopies.most, default: 0))
    }

    private static func serve(_ provider: any RecognizerProvider, copies: Int = 0) throws {
        var worker = DecodeWorker(
            input: FileDescriptor(adopting: STDIN_FILENO, named: "standard input"),
            output: FileDescriptor(adopting: STDOUT_FILENO, named: "standard output"))
        // The parent was told of an error, or is gone. A copy has no other thread that could end it, so each ends here.
        do { try worker.serve(provider, copies: copies) } catch let error as DeviceError { _exit(error.exitStatus) }
        _exit(0)
    }
}

/// Makes the person's vocabulary ready, where there is one, and then loads the engine: all of it in this process, so that
/// neither can reach a recording.
private struct PreparedProvider: RecognizerProvider {
    var model: PocketSphinxModel
    var profile: DecoderProfile
    var hint: Configuration.Recognizer.Hint
    var vocabulary: String?
    var cache: String

    func open() throws(DeviceError) -> any Recognizer {
        try model.check()
        guard let vocabulary = try vocabularyOfHint() else {
            return try PocketSphinxRecognizer(model: model, profile: profileOfHint(isGrammar: false))
        }
        let (prepared, outcome) = try model.prepare(vocabulary, keptIn: cache)
        for problem in outcome.report?.problems ?? [] {
            Terminal.say("fieldscribe: \(vocabulary):\(problem.line): \(problem.reason)")
        }
        return try PocketSphinxRecognizer(
            model: prepared, profile: profileOfHint(isGrammar: outcome.grammar != nil))
    }

    private func profileOfHint(isGrammar: Bool) -> DecoderProfile {
        if isGrammar { return .confirmation }
        return hint == .search ? .search : profile
    }

    /// The person's vocabulary; where a yes or no is awaited, a grammar of that in place of any but a grammar.
    private func vocabularyOfHint() throws(DeviceError) -> String? {
        guard hint == .confirmation else { return vocabulary }
        if let vocabulary {
            let text = try content(ofFile: vocabulary, limit: VocabularyFile.largest)
            if GrammarFile.isGrammar(String(decoding: text, as: UTF8.self)) { return vocabulary }
        }
        let path = "\(cache)/confirmation.gram"
        if (try? content(ofFile: path)) != Array(ConfirmationGrammar.text.utf8) {
            try makeFolder(cache)
            try durableReplace(path: path, with: ConfirmationGrammar.text)
        }
        return path
    }
}
