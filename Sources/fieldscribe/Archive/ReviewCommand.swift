import Core
import System
import Transcripts

enum ReviewCommand: Command {
    static let name = "review"
    static let aliases = ["relisten"]
    static let summary = "List the least certain words."
    static let usage = "[ID...] [--json] [--limit N] [--directory DIR]"
    static let details = """
          ID                 recordings, as fieldscribe list shows them; default all
          --json             one JSON array
          --limit N          at most N words; default 20
          --directory DIR    the archive; default storage.directory

        Words that are uncertain in many places come first, each with its least certain place. A recording's page lists
        the same words and plays them.
        """
    static let options = (values: ["--limit", "--directory"], flags: ["--json"])

    static func run(_ arguments: Arguments) async throws {
        let limit = try arguments.number("--limit", in: 1...100_000, default: 20)
        let asked = try arguments.rest.map { try ArchivePlace.number($0, for: name) }
        let archive = try await ArchivePlace(arguments).archive
        let recordings = asked.isEmpty ? try await archive.recordings().map(\.id) : asked
        var doubts = UncertainWordList(limit: limit)
        for recording in recordings {
            guard let (_, timeline) = try await archive.transcript(of: recording) else {
                // A recording may be deleted meanwhile.
                if asked.isEmpty { continue }
                throw DeviceError.noRecording(recording, "review")
            }
            doubts.add(timeline.segments, of: recording)
        }
        let worst = doubts.worst
        if arguments.has("--json") { return try Terminal.print(jsonText(worst)) }
        if worst.isEmpty { Terminal.say("there are no words to review") }
        for row in worst {
            let time = RecordingScreen.clock(row.place)
            try Terminal.print("\(row.recording)  \(time)  \(row.percent) %  \(row.context)\n")
        }
    }
}
