import Archive
import Core
import System
import Transcripts

enum SearchCommand: Command {
    static let name = "search"
    static let summary = "Find where words were said."
    private static let limit = Option.number("--limit", "at most N places", in: 1...100_000, default: 50)
    private static let context = Option.number(
        "--context", "also print N lines before and after each place", in: 0...100, default: 0)
    static let help: [any HelpPart] = [
        Argument(
            "WORDS...",
            "all must occur in one segment or bookmark; the last may be the beginning of a word. The best match comes first, or the newest for words in more than 2,000 places. Add speaker:A or speaker:Anna to find what that person said, by letter or by name"
        ), Option.json, limit, context, Option.directory,
    ]

    private struct Row: Encodable {
        var recording: Int
        var segment: Int
        var start: Double
        var end: Double
        var text: String
        var excerpt: String
        /// Nil without `--context`.
        var before: [String]?
        var after: [String]?

        init(_ hit: SearchHit) {
            recording = hit.recording
            segment = hit.segment
            start = hit.range.start.seconds
            end = hit.range.end.seconds
            text = hit.text
            excerpt = hit.excerpt
        }
    }

    static func run(_ arguments: Arguments) async throws {
        guard !arguments.rest.isEmpty else {
            throw arguments.usage("name the words to look for")
        }
        let limit = arguments[limit]
        let context = arguments[context]
        let archive = try await ArchivePlace(arguments).archive
        // A name of several words is one argument.
        let words = arguments.rest.map { isSpeaker($0) ? $0.replacing(" ", with: "_") : $0 }
        let hits = try await archive.search(words.joined(separator: " "), limit: limit)
        var rows: [Row] = []
        var spoken: [Int: [Segment]] = [:]
        for hit in hits {
            var row = Row(hit)
            if context > 0 {
                if spoken[hit.recording] == nil {
                    let segments = try await archive.transcript(of: hit.recording)?.1.segments ?? []
                    spoken[hit.recording] = segments.filter { !$0.words.isEmpty }
                }
                let segments = spoken[hit.recording] ?? []
                row.before = segments.filter { $0.id != hit.segment && $0.range.start < hit.range.start }.suffix(
                    context
                ).map(\.text)
                row.after = segments.filter { $0.id != hit.segment && $0.range.start >= hit.range.start }.prefix(
                    context
                ).map(\.text)
            }
            rows.append(row)
        }
        if arguments[.json] { return try Terminal.print(jsonText(rows)) }
        if rows.isEmpty { Terminal.say("no place found" + (try await reason(words, archive))) }
        for row in rows {
            let time = RecordingScreen.clock(SamplePosition(seconds: row.start))
            for line in row.before ?? [] { try Terminal.print("       \(line)\n") }
            let text = context > 0 && row.segment > 0 ? row.text : oneLine(row.excerpt)
            try Terminal.print("\(row.recording)  \(time)  \(text)\n")
            for line in row.after ?? [] { try Terminal.print("       \(line)\n") }
        }
    }

    private static func isSpeaker(_ word: String) -> Bool { word.lowercased().hasPrefix("speaker:") }

    /// Explains that a named speaker is unknown; empty if the speaker is known or none was named.
    private static func reason(_ words: [String], _ archive: any ArchiveReading) async throws -> String {
        let all = words.flatMap { $0.split(separator: " ").map(String.init) }
        guard let named = all.last(where: isSpeaker), named.utf8.count > "speaker:".utf8.count else { return "" }
        // The first speaker is A.
        if try await archive.search("speaker:A", limit: 1).isEmpty {
            return ": no recording has its speakers identified yet (recognizer.speakers, or fieldscribe speakers ID)"
        }
        guard try await archive.search(named, limit: 1).isEmpty else { return "" }
        let name = String(named.dropFirst("speaker:".count)).replacing("_", with: " ")
        return ": nobody is called \(oneLine(name)); people are A, B and so on, and have names where somebody gave them"
    }
}
