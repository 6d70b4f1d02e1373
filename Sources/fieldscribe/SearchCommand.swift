import Appliance
import Core
import Exporting
import SQLiteArchive

/// Finds words in all recordings.
enum SearchCommand: Command {
    static let name = "search"
    static let summary = "Find where words were said."
    static let usage = "WORDS... [--json] [--limit N] [--directory DIR]"
    static let details = """
          WORDS              all of them must occur in a segment; the last may be the beginning of a word
          --json             one JSON array
          --limit N          at most so many places; default 50
          --directory DIR    where the archive is; default storage.directory
        """
    static let options = (values: ["--limit", "--directory"], flags: ["--json"])

    private struct Row: Encodable {
        var recording: Int
        var segment: Int
        var start: Double
        var end: Double
        var text: String
        var excerpt: String
    }

    static func run(_ arguments: Arguments) async throws {
        guard !arguments.rest.isEmpty else {
            throw UsageError("search: name the words to look for; see fieldscribe search --help")
        }
        let limit = try arguments.number("--limit", in: 1...100_000, default: 50)
        let hits = try await ArchivePlace(arguments).archive.search(
            arguments.rest.joined(separator: " "), limit: limit)
        if arguments.has("--json") {
            return try Terminal.print(
                jsonText(
                    hits.map {
                        Row(
                            recording: $0.recording, segment: $0.segment, start: $0.range.start.seconds,
                            end: $0.range.end.seconds, text: $0.text, excerpt: $0.excerpt)
                    }))
        }
        if hits.isEmpty { Terminal.say("nobody said that") }
        for hit in hits {
            try Terminal.print("\(hit.recording)  \(RecordingScreen.clock(hit.range.start))  \(hit.excerpt)\n")
        }
    }
}
