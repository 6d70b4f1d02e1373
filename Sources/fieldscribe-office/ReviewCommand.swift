import Core
import Office
import System
import Transcripts

enum ReviewCommand: OfficeCommand {
    static let name = "review"
    static let summary = "List uncertain words, the most useful to check first."
    static let usage = "[ID...] [--limit N] \(FilterOptions.usage) [--json] [--archive ARCHIVE] [--files FOLDER]"
    static let details = """
        Words that engines often miss come first. A word that is uncertain in many places is listed at its least certain place.

          ID                   numbers from fieldscribe-office list; default all
          --limit N            at most N words; default 20
        \(FilterOptions.explained)
          --json               print one JSON array
        """
    static let options = (values: FilterOptions.names + ["--limit"], flags: ["--json"])

    static func run(_ words: OptionWords) throws {
        let limit = try words.number("--limit", in: 1...100_000, default: 20)
        let archive = try ArchiveChoice.open(words)
        var doubts = UncertainWordList(limit: limit)
        for recording in try FilterOptions.recordings(words, in: archive) {
            guard let timeline = try archive.shownTimeline(of: recording.id) else { continue }
            let segments = timeline.segments.filter { FilterOptions.isSaid($0, in: timeline, words) }
            doubts.add(segments, of: recording.id, recorder: recording.recorder.folder)
        }
        let worst = doubts.worst
        if words.has("--json") { return try Terminal.print(jsonText(worst)) }
        if worst.isEmpty { Terminal.say("there are no words to review") }
        for row in worst {
            try Terminal.print(
                "\(row.recording)  \(row.recorder ?? "")  \(clockTime(row.place))  \(row.percent) %  \(oneLine(row.context))\n"
            )
        }
    }
}
