import Archive
import Core
import System
import Transcripts

enum SearchCommand: Command {
    static let name = "search"
    static let summary = "Find where words were said."
    private static let maximumLimit = 100_000
    private static let limit = Option.number("--limit", "at most N results", in: 1...maximumLimit, default: 50)
    private static let context = Option.number(
        "--context", "also print N lines before and after each result", in: 0...100, default: 0)
    static let help: [any HelpPart] = [
        Argument(
            "WORDS...",
            "words that all occur in one segment or bookmark; the last may be the beginning of a word. The best match comes first, or the newest if there are more than 2,000 matches. Add speaker:A or speaker:Anna, a letter or a name, to search only what that person said"
        ), Option.json, limit, context, Option.directory,
        "Exit status: 0 something was found; 1 nothing was found. With --json, it is 0 in both cases.",
    ]

    private struct Row: Encodable {
        var recording: Int
        var title: String?
        /// When the recording began, in UTC.
        var recorded: String?
        var segment: Int
        var start: Double
        var end: Double
        var text: String
        var excerpt: String
        /// The lines before the result; nil if `--context` was not given.
        var before: [String]?
        var after: [String]?

        init(_ hit: SearchHit, in summary: RecordingSummary?) {
            recording = hit.recording
            title = summary?.title
            recorded = summary.map { wallTime($0.startedAt) }
            segment = hit.segment
            start = hit.range.start.seconds
            end = hit.range.end.seconds
            text = hit.text
            excerpt = hit.excerpt
        }
    }

    static func run(_ arguments: Arguments) async throws {
        guard !arguments.rest.isEmpty else {
            throw arguments.usage("give the words to search for")
        }
        let limit = arguments[limit]
        let context = arguments[context]
        let archive = try await ArchiveConnection(arguments).archive
        // A name that consists of several words is one argument.
        let words = arguments.rest.map { isSpeaker($0) ? $0.replacing(" ", with: "_") : $0 }
        // One extra hit shows whether there are more.
        var hits = try await archive.search(words.joined(separator: " "), limit: min(limit + 1, maximumLimit))
        let hasMore = hits.count > limit
        hits = Array(hits.prefix(limit))
        let recordings = try await archive.recordings()
        let summaries = Dictionary(recordings.map { ($0.id, $0) }) { first, _ in first }
        var rows: [Row] = []
        var segmentsByRecording: [Int: [Segment]] = [:]
        for hit in hits {
            var row = Row(hit, in: summaries[hit.recording])
            if context > 0 {
                if segmentsByRecording[hit.recording] == nil {
                    let segments = try await archive.transcript(of: hit.recording)?.1.segments ?? []
                    segmentsByRecording[hit.recording] = segments.filter { !$0.words.isEmpty }
                }
                let otherSegments = (segmentsByRecording[hit.recording] ?? []).filter { $0.id != hit.segment }
                row.before = otherSegments.filter { $0.range.start < hit.range.start }.suffix(context).map(\.text)
                row.after = otherSegments.filter { $0.range.start >= hit.range.start }.prefix(context).map(\.text)
            }
            rows.append(row)
        }
        if arguments[.json] { return try Terminal.print(jsonText(rows)) }
        if rows.isEmpty {
            Terminal.say("nothing found" + (try await reason(words, archive)))
            throw ExitError(status: 1)
        }
        var previousRecording: Int?
        for row in rows {
            if row.recording != previousRecording {
                try Terminal.print(styled: heading(row.recording, summaries[row.recording]))
            }
            previousRecording = row.recording
            try print(row, showsWholeText: context > 0 && row.segment > 0)
        }
        if hasMore { Terminal.say("stopped at \(counted(limit, "result", "results")); --limit N shows more") }
    }

    /// Returns a heading such as `7  The mill, 2026-11-26 14:51`.
    private static func heading(_ id: Int, _ recording: RecordingSummary?) -> StyledText {
        let details = [recording?.title.map(oneLine), recording.map(RecordingTable.start)].compactMap(\.self)
        return "\("\(id)", .bold)  \(details.joined(separator: ", "), .bold)\n"
    }

    private static func print(_ row: Row, showsWholeText: Bool) throws {
        let time = RecordingScreen.clock(seconds: row.start)
        for line in row.before ?? [] { try Terminal.print("          \(line)\n") }
        let excerpt = oneLine(row.excerpt)
        let text: StyledText =
            showsWholeText
            ? "\(row.text)" : Terminal.stylesOutput ? marked(excerpt, of: oneLine(row.text)) : "\(excerpt)"
        try Terminal.print(styled: "   \(time, .dim)  \(text)\n")
        for line in row.after ?? [] { try Terminal.print("          \(line)\n") }
    }

    /// Replaces the brackets around an excerpt's matching words with bold style. Keeps brackets that are in the text.
    static func marked(_ excerpt: String, of text: String) -> StyledText {
        var marked: StyledText = ""
        var rest = excerpt[...]
        while let start = rest.firstIndex(of: "["), let end = rest[start...].firstIndex(of: "]") {
            let word = rest[rest.index(after: start)..<end]
            marked.append(String(rest[..<start]))
            if text.contains("[\(word)]") { marked.append("[\(word)]") } else { marked.append(String(word), .bold) }
            rest = rest[rest.index(after: end)...]
        }
        marked.append(String(rest))
        return marked
    }

    private static func isSpeaker(_ word: String) -> Bool { word.lowercased().hasPrefix("speaker:") }

    /// Returns an explanation if the search words name an unknown speaker; otherwise an empty string.
    private static func reason(_ words: [String], _ archive: any ArchiveReading) async throws -> String {
        let allWords = words.flatMap { $0.split(separator: " ").map(String.init) }
        guard let speaker = allWords.last(where: isSpeaker), speaker.utf8.count > "speaker:".utf8.count
        else { return "" }
        // The first speaker is A.
        if try await archive.search("speaker:A", limit: 1).isEmpty {
            return ": no speakers have been identified yet (recognizer.speakers, or fieldscribe speakers ID)"
        }
        guard try await archive.search(speaker, limit: 1).isEmpty else { return "" }
        let name = String(speaker.dropFirst("speaker:".count)).replacing("_", with: " ")
        return ": no speaker is named \(oneLine(name)); speakers are A, B and so on until they are named"
    }
}
