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
        "show transcript N of that list; 1 is the one that the archive shows and searches",
        in: 1...100_000, default: 1)
    static let help: [any HelpPart] = [
        Argument.recording, Option.format, readings, reading, Option.archive, Option.files,
    ]

    static func run(_ arguments: Arguments) throws {
        let id = try arguments.recording
        let (format, number) = (arguments[.format], arguments[reading])
        let archive = try ArchiveChoice.open(arguments)
        let recording = try recording(id, in: archive)
        let transcripts = try archive.transcripts(of: id)
        if arguments[readings] {
            for (index, transcript) in transcripts.enumerated() {
                let author = transcript.person.map { $0.isEmpty ? "by a person" : "by \($0)" } ?? transcript.engine
                try Terminal.print("\(index + 1)  \(shownTime(transcript.madeAt))  \(oneLine(author))\n")
            }
            return
        }
        guard transcripts.indices.contains(number - 1),
            let timeline = try archive.timeline(ofTranscript: transcripts[number - 1].id)
        else {
            let count = counted(transcripts.count, "transcript", "transcripts")
            throw DeviceError(
                .missing, "show", on: "recording \(id)",
                transcripts.isEmpty ? "has no transcripts" : "has only \(count)")
        }
        if Terminal.showsErrors { Terminal.say("\(archive.filesPath)/\(recording.copyFolder)/\(recording.audioName)") }
        let title = recording.title.isEmpty ? "Recording \(id)" : oneLine(recording.title)
        var details = RecordingDetails(timeline, title: title)
        if !recording.audioName.isEmpty { details.audio = recording.audioName }
        try format.print(timeline, details: details)
        if format != .text, let progress = transcriptionProgress(timeline) {
            Terminal.say("fieldscribe-office: recording \(id): \(progress)")
        }
    }
}
