import Core
import Office
import System
import Transcripts

enum ShowCommand: Command {
    static let name = "show"
    static let summary = "Show a recording's transcript."
    private static let readings = Option.flag(
        "--readings", "list this recording's transcripts and who or what made them")
    private static let reading = Option.number(
        "--reading",
        "show transcript N of that list, where 1 is the latest by a person or, if there is none, by an engine",
        in: 1...100_000, default: 1)
    static let help: [any HelpPart] = [
        Argument.recording, Option.format, readings, reading, Option.archive, Option.files,
    ]

    static func run(_ arguments: Arguments) throws {
        let id = try arguments.recording
        let (format, number) = (arguments[.format], arguments[reading])
        let archive = try ArchiveChoice.open(arguments)
        let recording = try recording(id, in: archive)
        let readings = try archive.readings(of: id)
        if arguments[Self.readings] {
            for (index, reading) in readings.enumerated() {
                let who = reading.person.map { $0.isEmpty ? "by a person" : "by \($0)" } ?? reading.engine
                try Terminal.print("\(index + 1)  \(shownTime(reading.madeAt))  \(oneLine(who))\n")
            }
            return
        }
        guard readings.indices.contains(number - 1),
            let timeline = try archive.timeline(ofReading: readings[number - 1].id)
        else {
            throw DeviceError(
                .missing, "show", on: "recording \(id)",
                "has only \(counted(readings.count, "transcript", "transcripts"))")
        }
        if Terminal.showsErrors { Terminal.say("\(archive.files)/\(recording.place)/\(recording.audio)") }
        let title = recording.title.isEmpty ? "Recording \(id)" : oneLine(recording.title)
        var details = RecordingDetails(timeline, title: title)
        if !recording.audio.isEmpty { details.audio = recording.audio }
        try format.print(timeline, details: details)
        if format != .text, let progress = transcriptionProgress(timeline) {
            Terminal.say("fieldscribe-office: recording \(id): \(progress)")
        }
    }
}
