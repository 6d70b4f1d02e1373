import Commands
import Core
import Exporting
import Office

/// The words least sure, of all recorders.
enum ReviewCommand: OfficeCommand {
    static let name = "review"
    static let summary = "List the least certain words, first those that are missed often."
    static let usage = "[ID...] [--limit N] \(FilterOptions.usage) [--json] [--archive ARCHIVE] [--files FOLDER]"
    static let details = """
        Of a word that is doubtful at many places the least certain comes first, since its answer would teach most.

          ID                   numbers, as fieldscribe-office list shows them; default all
          --limit N            at most N words; default 20
        \(FilterOptions.explained)
          --json               one JSON array
        """
    static let options = (values: FilterOptions.names + ["--limit"], flags: ["--json"])

    /// Of each recording; among them are those that matter over all recordings.
    private static let mostOfOne = 1_000

    private struct Row: Encodable {
        var recording: Int
        var recorder: String
        var segment: Int
        var start: Double
        var end: Double
        var text: String
        var confidence: Double
        var before: String
        var after: String
    }

    static func run(_ words: OptionWords) throws {
        let limit = try words.number("--limit", in: 1...100_000, default: 20)
        let archive = try ArchiveChoice.open(words)
        var rows: [Row] = []
        var doubtful: [Word] = []
        for recording in try FilterOptions.recordings(words, in: archive) {
            guard let shown = try archive.readings(of: recording.id).first,
                let timeline = try archive.timeline(ofReading: shown.id)
            else { continue }
            let segments = timeline.segments.filter { FilterOptions.isSaid($0, in: timeline, words) }
            for doubt in Doubt.worst(max(limit, mostOfOne), of: segments) {
                doubtful.append(doubt.word)
                rows.append(
                    Row(
                        recording: recording.id, recorder: recording.recorder.folder, segment: doubt.segment,
                        start: doubt.word.range.start.seconds, end: doubt.word.range.end.seconds, text: doubt.word.text,
                        confidence: (doubt.word.confidence * 10_000).rounded() / 10_000, before: doubt.before,
                        after: doubt.after))
            }
        }
        let worst = Doubt.order(doubtful).prefix(limit).map { rows[$0] }
        if words.has("--json") { return try Terminal.print(jsonText(worst)) }
        if worst.isEmpty { Terminal.say("there are no words to review") }
        for row in worst {
            let context = [row.before, "[\(row.text)]", row.after].filter { !$0.isEmpty }.joined(separator: " ")
            let time = clockTime(SamplePosition(seconds: row.start))
            try Terminal.print(
                "\(row.recording)  \(row.recorder)  \(time)  \(Int(nearest: row.confidence * 100)) %  \(oneLine(context))\n"
            )
        }
    }
}
