import Core
import Office
import System
import Transcripts

enum SearchCommand: OfficeCommand {
    static let name = "search"
    static let summary = "Search for words in all recordings."
    static let usage =
        "WORDS... [--alike] \(FilterOptions.usage) [--limit N] [--json] [--archive ARCHIVE] [--files FOLDER]"
    static let details = """
          WORDS                all must occur in one segment or bookmark; the last may be the beginning of a word. Lists the best
                               match first; for words with more than 2,000 matches, the newest
          --alike              also find words with similar spelling, since names are often recognized wrong; prints those words
          --limit N            at most N matches; default 50
        \(FilterOptions.explained)
          --json               print one JSON array
        """
    static let options = (values: FilterOptions.names + ["--limit"], flags: ["--alike", "--json"])

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

    static func run(_ words: OptionWords) throws {
        guard !words.rest.isEmpty else { throw words.usage("name the words to search for") }
        let limit = try words.number("--limit", in: 1...100_000, default: 50)
        let filter = try FilterOptions.filter(words)
        let archive = try ArchiveChoice.open(words)
        var query = OfficeQuery(words.rest.joined(separator: " "))
        if words.has("--alike") {
            for line in try query.addSimilarWords(in: archive) { Terminal.say(line) }
        }
        let hits = try archive.search(query, filter, limit: limit)
        if words.has("--json") {
            return try Terminal.print(
                jsonText(
                    hits.map { hit in
                        Row(
                            recording: hit.recording, recorder: hit.recorder, recordingStart: hit.startedAt,
                            segment: hit.line.segment, start: hit.line.range.start.seconds,
                            end: hit.line.range.end.seconds, speaker: hit.line.speaker.isEmpty ? nil : hit.line.speaker,
                            name: hit.line.name.isEmpty ? nil : hit.line.name, text: hit.line.text, excerpt: hit.excerpt
                        )
                    }))
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
