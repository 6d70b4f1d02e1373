import Core
import Office
import System
import Transcripts

enum ReviewCommand: Command {
    static let name = "review"
    static let summary = "List uncertain words, the most useful to check first."
    private static let limit = Option.number("--limit", "at most N words", in: 1...100_000, default: 20)
    static let help = Filter.help(
        [
            "Words that engines often get wrong come first. A word that is often uncertain is listed at its least certain occurrence.",
            Argument.recordings(), limit,
        ], Option.json)

    static func run(_ arguments: Arguments) throws {
        let archive = try ArchiveChoice.open(arguments)
        var list = UncertainWordList(limit: arguments[limit])
        for recording in try Filter.recordings(arguments, in: archive) {
            guard let timeline = try archive.shownTimeline(of: recording.id) else { continue }
            let segments = timeline.segments.filter { Filter.matchesSpeaker($0, in: timeline, arguments) }
            list.add(segments, of: recording.id, recorder: recording.recorder.folder)
        }
        let rows = list.worst
        if arguments[.json] { return try Terminal.print(jsonText(rows, isIndented: true)) }
        if rows.isEmpty { Terminal.say("there are no words to review") }
        for row in rows {
            try Terminal.print(
                "\(row.recording)  \(row.recorder ?? "")  \(clockTime(row.position))  \(row.percent) %  "
                    + "\(oneLine(row.context))\n"
            )
        }
    }
}
