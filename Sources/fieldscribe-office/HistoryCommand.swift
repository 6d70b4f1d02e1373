import Core
import Office
import System
import Transcripts

enum HistoryCommand: OfficeCommand {
    static let name = "history"
    static let summary = "Show what was done to a recording."
    static let usage = "ID [--json] [--archive ARCHIVE] [--files FOLDER]"
    static let details = """
          ID                   a number from fieldscribe-office list
          --json               print the entries as the recorder chained them
        \(ArchiveChoice.explained)
        """
    static let options = (values: ["--archive", "--files"], flags: ["--json"])

    static func run(_ words: OptionWords) throws {
        try words.expect(1, "a recording's number")
        let id = try recordingNumber(words.rest[0], words)
        let archive = try ArchiveChoice.open(words)
        _ = try recording(id, in: archive)
        let history = try archive.history(of: id)
        if words.has("--json") { return try Terminal.print(historyDocument(history)) }
        if history.isEmpty { Terminal.say("its copies contain no history") }
        for line in history {
            let doubt = line.entry.clock == .unverified ? " (clock not set)" : ""
            try Terminal.print("\(oneLine(line.entry.time))\(doubt)  \(line.entry.sentence)\n")
        }
    }
}
