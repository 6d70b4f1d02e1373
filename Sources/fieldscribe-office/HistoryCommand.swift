import Core
import Office
import System
import Transcripts

enum HistoryCommand: Command {
    static let name = "history"
    static let summary = "Show what was done to a recording."
    static let help: [any HelpPart] = [
        Argument.recording, Option.json("print the entries with their hash chain, as the recorder wrote them"),
        Option.archive, Option.files,
    ]

    static func run(_ arguments: Arguments) throws {
        let id = try arguments.recording
        let archive = try ArchiveChoice.open(arguments)
        _ = try recording(id, in: archive)
        let history = try archive.history(of: id)
        if arguments[.json] { return try Terminal.print(historyDocument(history)) }
        if history.isEmpty { Terminal.say("the copies of recording \(id) contain no history") }
        for line in history {
            let clock = line.entry.clock == .unverified ? " (clock not set)" : ""
            try Terminal.print("\(oneLine(line.entry.time))\(clock)  \(line.entry.sentence)\n")
        }
    }
}
