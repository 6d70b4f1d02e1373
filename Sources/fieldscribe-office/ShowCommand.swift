import Core
import Office
import System
import Transcripts

enum ShowCommand: Command {
    static let name = "show"
    static let summary = "Show the transcript of a recording."
    private static let readings = Option.flag(
        "--readings", "list the transcripts of this recording, by engines and by people")
    private static let reading = Option.number(
        "--reading", "show transcript N of that list, where 1 is the latest by a person, else the latest by an engine",
        in: 1...100_000, default: 1)
    static let help: [any HelpPart] = [
        Argument.recording, Option.format, readings, reading, Option.archive, Option.files,
    ]

    static func run(_ arguments: Arguments) throws {
        let id = try arguments.recording
        let (format, number) = (arguments[.format], arguments[reading])
        let archive = try ArchiveChoice.open(arguments)
        let found = try recording(id, in: archive)
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
        if Terminal.showsErrors { Terminal.say("\(archive.files)/\(found.place)/\(found.audio)") }
        let title = found.title.isEmpty ? "Recording \(id)" : oneLine(found.title)
        var details = RecordingDetails(timeline, title: title)
        if !found.audio.isEmpty { details.audio = found.audio }
        try format.print(timeline, details: details)
        if format != .text, let rest = unwrittenText(timeline) {
            Terminal.say("fieldscribe-office: recording \(id): \(rest)")
        }
    }
}
