import Core
import Maintenance
import Recognition
import Settings
import System
import Transcripts

/// The actions of `fieldscribe vocabulary` on `learned.txt`.
enum LearnedWords {
    static let actions = ["learned", "learn", "accept"]

    private struct Answer: Encodable {
        var file: String
        var learn: String
        var entries: [LearnedFile.Entry]
        var problems: [VocabularyFile.Problem]
    }

    static func run(_ action: String, _ arguments: Arguments) async throws {
        var configuration = try arguments.configuration()
        if let directory = arguments[.directory] { configuration.storage.directory = directory }
        switch action {
        case "learn":
            try arguments.expect(1, "nothing else")
            try await learn(configuration, arguments)
        case "accept": try await accept(configuration, Array(arguments.rest.dropFirst()))
        default:
            try arguments.expect(1, "nothing else")
            try list(configuration, asJSON: arguments[.json])
        }
    }

    private static func list(_ configuration: Configuration, asJSON: Bool) throws {
        let learned = configuration.learned
        let file = try learned.file()
        let entries = file.entries(maximumUsed: LearnedVocabulary.maximumUsedLines)
        let problems = file.problems
        if asJSON {
            let answer = Answer(
                file: learned.path, learn: configuration.recognizer.learn.rawValue, entries: entries, problems: problems
            )
            try Terminal.print(jsonText(answer))
        } else {
            for entry in entries { try Terminal.print(text(entry) + "\n") }
            for problem in problems {
                try Terminal.print("\(learned.path):\(problem.line): \(problem.reason)\n")
            }
            if entries.isEmpty { Terminal.say("no words have been learned yet; see fieldscribe import --help") }
            if configuration.recognizer.learn == .no, !entries.isEmpty {
                Terminal.say("these words are not used (vocabulary.learn = no)")
            }
        }
        if !problems.isEmpty { throw ExitError(status: 1) }
    }

    private static func text(_ entry: LearnedFile.Entry) -> String {
        let state =
            switch entry.state {
            case .used: ""
            case .proposed: "  proposed"
            case .off: "  not used"
            case .beyond: "  not used: beyond line \(LearnedVocabulary.maximumUsedLines)"
            }
        guard entry.times > 0 else { return "\(entry.phrase)\(state)" }
        let count = entry.times == 1 ? "once" : "\(entry.times) times"
        let ids = entry.recordings.map { "\($0)" }.joined(separator: ", ")
        let what = entry.recordings.count == 1 ? "recording" : "recordings"
        return "\(entry.phrase)  corrected \(count) in \(what) \(ids)\(state)"
    }

    private static func learn(_ configuration: Configuration, _ arguments: Arguments) async throws {
        guard configuration.recognizer.learn != .no else {
            throw DeviceError(
                .unsupported, "learn", on: "vocabulary.learn", "is no, so no words are learned",
                remedy: "set it to yes or ask")
        }
        let connection = try await ArchiveConnection(arguments)
        let added = try await ArchiveOwner(of: configuration.storage.directory).act {
            try await Learning(configuration, archive: connection.archive).learn()
        }
        for word in added { try Terminal.print("\(word)\n") }
        Terminal.say(
            added.isEmpty
                ? "there is nothing new to learn"
                : configuration.recognizer.learn == .ask
                    ? "accept these with fieldscribe vocabulary accept"
                    : "these are preferred from the next recording on")
    }

    private static func accept(_ configuration: Configuration, _ words: [String]) async throws {
        let learned = configuration.learned
        let requested = words.map { (text: $0, key: key(of: $0)) }
        let keys = words.isEmpty ? nil : Set(requested.map(\.key))
        let accepted = try await ArchiveOwner(of: configuration.storage.directory).act {
            try learned.change { $0.accept(keys) }
        }
        for key in accepted { try Terminal.print("\(key)\n") }
        for word in requested where !accepted.contains(word.key) {
            Terminal.say("fieldscribe: \(oneLine(word.text)): not in \(learned.path)")
        }
        if requested.contains(where: { !accepted.contains($0.key) }) { throw ExitError(status: 1) }
        if accepted.isEmpty { Terminal.say("there are no proposals") }
    }

    private static func key(of text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).map { Word.key(of: String($0)) }.joined(separator: " ")
    }
}
