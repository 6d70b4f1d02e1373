import Core
import System
import Transcripts

enum ReviewCommand: Command {
    static let name = "review"
    static let aliases = ["relisten"]
    static let summary = "List the least certain words."
    private static let limit = Option.number("--limit", "at most N words", in: 1...100_000, default: 20)
    static let help: [any HelpPart] = [
        Argument.recordings(), Option.json, limit, Option.directory,
        """
        Unclear speech comes first, then words that are often uncertain, each with its least certain occurrence. A
        recording's page lists the same words and plays them.
        """,
    ]

    static func run(_ arguments: Arguments) async throws {
        let requested = try arguments.recordings
        let archive = try await ArchiveConnection(arguments).archive
        let recordings = requested.isEmpty ? try await archive.recordings().map(\.id) : requested
        var uncertain = UncertainWordList(limit: arguments[limit])
        for recording in recordings {
            guard let (_, timeline) = try await archive.transcript(of: recording) else {
                // A recording may have been deleted meanwhile.
                if requested.isEmpty { continue }
                throw DeviceError.noRecording(recording, "review")
            }
            uncertain.add(timeline.segments, of: recording)
        }
        let worst = uncertain.worst
        if arguments[.json] { return try Terminal.print(jsonText(worst)) }
        if worst.isEmpty { Terminal.say("there are no words to review") }
        for row in worst {
            let time = RecordingScreen.clock(row.position)
            try Terminal.print("\(row.recording)  \(time)  \(row.percent) %  \(row.context)\n")
        }
    }
}
