import Core
import Glibc
import Maintenance
import Recognition
import Settings
import System

enum VocabularyCommand: Command {
    static let name = "vocabulary"
    static let summary = "Teach the recognizer your own names and words."
    static let help: [any HelpPart] = [
        Argument("check FILE", "print guessed pronunciations and unusable lines", .files),
        Argument("prepare FILE", "also build the language model now, before the first recording", .files),
        Argument("use FILE", "do the same, and save FILE as recognizer.vocabulary in the configuration file", .files),
        Argument("learned", "list the words that people corrected, from learned.txt in the archive's folder"),
        Argument("learn", "add missing corrections to learned.txt, or rebuild it"),
        Argument("accept [PHRASE...]", "accept these or all words that were proposed because vocabulary.learn is ask"),
        Option.model, Option.directory, Option.json("print one JSON object"),
        """
        FILE has one word or phrase per line, or is a JSGF grammar, which allows no other words:

          Ouagadougou
          shea butter * 20             expected twenty times in a thousand words; \(Int(VocabularyFile.defaultFrequency)) by default
          Koudougou = K UW D UW G UW   its phonemes; | separates alternatives
          <person> = Awa Ouedraogo | Bintou
                                       a class, and a template that uses it:
          ask <person> about the harvest
        """,
    ]

    private struct Answer: Encodable {
        var file: String
        var model: String
        var report: VocabularyReport
        /// Whether the language model was already built; nil for `check`.
        var wasKept: Bool?
    }

    static func run(_ arguments: Arguments) async throws {
        if let action = arguments.rest.first, LearnedWords.actions.contains(action) {
            return try await LearnedWords.run(action, arguments)
        }
        try arguments.expect(2, "what to do (check, prepare or use) and a file")
        let action = arguments.rest[0]
        guard ["check", "prepare", "use"].contains(action) else {
            throw UsageError(
                "vocabulary: \(action): choose one of check, prepare, use, \(LearnedWords.actions.joined(separator: ", "))"
            )
        }
        let configuration = try arguments.configuration()
        let path = arguments.rest[1]
        let file = (try? realPath(path)) ?? path
        let model = configuration.model
        try model.check()
        var report: VocabularyReport?
        if action != "check" {
            report = try await asArchiveOwner(configuration) {
                let (prepared, report) = try model.prepare(file, cachedIn: configuration.cacheFolder)
                // Checks that the library accepts the model before a recording depends on it.
                _ = try PocketSphinxRecognizer(model: prepared)
                return report
            }
        }
        let answer = Answer(
            file: file, model: model.name,
            report: try report ?? model.preparation(of: file, cachedIn: configuration.cacheFolder).check(),
            wasKept: action == "check" ? nil : report == nil)
        try Terminal.print(arguments[.json] ? jsonText(answer) : text(answer))
        if action == "use" {
            let saved = try configuration.save("vocabulary", in: "recognizer", value: file)
            Terminal.say("saved in \(saved); the appliance uses it from its next start (systemctl restart fieldscribe)")
        }
        if !answer.report.problems.isEmpty { throw ExitError(status: 1) }
    }

    /// Runs `body` as the archive's owner if this process is root, because the service runs as the owner.
    private static func asArchiveOwner<Value>(
        _ configuration: Configuration, _ body: () throws -> Value
    ) async throws -> Value {
        guard geteuid() == 0 else { return try body() }
        return try await ArchiveOwner(of: configuration.storage.directory).act { try body() }
    }

    private static func text(_ answer: Answer) -> String {
        let report = answer.report
        var lines = [
            "\(report.isGrammar ? "a grammar" : "\(report.phrases) phrases") with \(report.words) words: "
                + "\(report.dictionaryWords) in the dictionary of \(answer.model), "
                + "\(report.userPronouncedWords) given in the file, \(report.guesses.count) guessed"
        ]
        lines += report.guesses.map { "  \($0.word): \($0.pronunciations.joined(separator: " | "))" }
        lines += report.problems.map { "\(answer.file):\($0.line): \($0.reason)" }
        if let wasKept = answer.wasKept { lines.append("language model: \(wasKept ? "was already built" : "built")") }
        return lines.map { "\($0)\n" }.joined()
    }
}
