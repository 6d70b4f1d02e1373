import Core
import Office
import System
import Transcripts

enum SearchCommand: Command {
    static let name = "search"
    static let summary = "Search for words in all recordings."
    private static let alike = Option.flag(
        "--alike", "also find words with similar spelling, since names are often misrecognized; prints those words")
    private static let limit = Option.number("--limit", "at most N matches", in: 1...100_000, default: 50)
    static let help = Filter.help(
        [
            Argument(
                "WORDS...",
                "words that all occur in one segment or bookmark; the last may be the beginning of a word. The best match comes first, or the one that was added last if there are more than 2,000 matches"
            ), alike, limit,
        ], Option.json)

    private struct Row: Encodable {
        var recording: Int
        var recorder: String
        var recordingStart: Double
        var segment: Int
        var start: Double
        var end: Double
        var speaker: String?
        var name: String?
        var text: String
        var excerpt: String
    }

    static func run(_ arguments: Arguments) throws {
        guard !arguments.rest.isEmpty else { throw arguments.usage("give the words to search for") }
        let filter = Filter.filter(arguments)
        let archive = try ArchiveChoice.open(arguments)
        var query = OfficeQuery(arguments.rest.joined(separator: " "))
        if arguments[alike] {
            for line in try query.addSimilarWords(in: archive) { Terminal.say(line) }
        }
        let hits = try archive.search(query, filter, limit: arguments[limit])
        if arguments[.json] {
            return try Terminal.print(
                jsonText(
                    hits.map { hit in
                        Row(
                            recording: hit.recording, recorder: hit.recorder, recordingStart: hit.startedAt,
                            segment: hit.line.segment, start: hit.line.range.start.seconds,
                            end: hit.line.range.end.seconds, speaker: hit.line.speaker.isEmpty ? nil : hit.line.speaker,
                            name: hit.line.name.isEmpty ? nil : hit.line.name, text: hit.line.text, excerpt: hit.excerpt
                        )
                    }, isIndented: true))
        }
        if hits.isEmpty { Terminal.say("no matches") }
        for hit in hits {
            let who = hit.line.name.isEmpty ? "" : "\(oneLine(hit.line.name)): "
            try Terminal.print(
                "\(hit.recording)  \(hit.recorder)  \(shownTime(hit.startedAt))  \(clockTime(hit.line.range.start))  "
                    + "\(who)\(oneLine(hit.excerpt))\n")
        }
    }
}
