import Core
import Office
import System
import Transcripts

enum ListCommand: Command {
    static let name = "list"
    static let summary = "List the recordings of all recorders."
    static let help = Filter.help(
        [
            "Lists the earliest recording first. A question mark after the time means that the recorder's clock was not set."
        ],
        Option.json)

    private struct Row: Encodable {
        var id: Int
        var recorder: String
        var recorderName: String
        var key: String?
        var number: Int
        var start: Double
        var clock: RecordingSummary.Clock
        var duration: Double
        var title: String
        var people: String
        var readings: Int
        var folder: String
        var audio: String
    }

    static func run(_ arguments: Arguments) throws {
        let archive = try ArchiveChoice.open(arguments)
        let recordings = try archive.recordings(Filter.filter(arguments))
        if arguments[.json] {
            return try Terminal.print(
                jsonText(
                    recordings.map {
                        Row(
                            id: $0.id, recorder: $0.recorder.folder, recorderName: $0.recorder.name,
                            key: $0.recorder.key, number: $0.number, start: $0.startedAt, clock: $0.clock,
                            duration: $0.length.seconds, title: $0.title, people: $0.people,
                            readings: $0.transcriptCount, folder: "\(archive.filesPath)/\($0.copyFolder)",
                            audio: $0.audioName)
                    }, isIndented: true))
        }
        if recordings.isEmpty { Terminal.say("no recordings") }
        for recording in recordings {
            let about = [recording.title, recording.people].filter { !$0.isEmpty }.map(oneLine).joined(separator: "; ")
            let line =
                "\(recording.id)  \(shownTime(recording.startedAt, recording.clock))  \(clockTime(recording.length))  "
                + "\(recording.recorder.folder) \(recording.number)\(about.isEmpty ? "" : "  \(about)")"
            try Terminal.print(line + "\n")
        }
    }
}
