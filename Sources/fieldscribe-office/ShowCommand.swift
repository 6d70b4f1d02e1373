import Core
import Office
import System
import Transcripts

enum ShowCommand: OfficeCommand {
    static let name = "show"
    static let summary = "Show the transcript of a recording."
    static let usage = "ID [--format F] [--reading N | --readings] [--archive ARCHIVE] [--files FOLDER]"
    static let details = """
          ID                   a number from fieldscribe-office list
          --format F           \(TranscriptFormat.allCases.map(\.rawValue).joined(separator: ", ")); default text
          --readings           list the transcripts of this recording, by engines and by people
          --reading N          show transcript N of that list; default 1: the latest by a person, else the latest by an engine
        \(ArchiveChoice.explained)
        """
    static let options = (values: ["--format", "--reading", "--archive", "--files"], flags: ["--readings"])

    static func run(_ words: OptionWords) throws {
        try words.expect(1, "a recording's number")
        let id = try recordingNumber(words.rest[0], words)
        let format = try words.choice("--format", of: TranscriptFormat.allCases, named: \.rawValue, default: .text)
        let number = try words.number("--reading", in: 1...100_000, default: 1)
        let archive = try ArchiveChoice.open(words)
        let found = try recording(id, in: archive)
        let readings = try archive.readings(of: id)
        if words.has("--readings") {
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
                "has only \(counted(readings.count, "text", "texts"))")
        }
        if Terminal.showsErrors {
            Terminal.say("\(archive.files)/\(found.place)/\(found.audio)")
        }
        var details = RecordingDetails(timeline)
        if !found.audio.isEmpty { details.audio = found.audio }
        details.title = found.title.isEmpty ? "Recording \(id)" : oneLine(found.title)
        if format.isPackage {
            try Terminal.print(
                format.file(timeline, details: details), of: format.rawValue, fileExtension: format.fileExtension)
        } else {
            try Terminal.print(format.render(timeline, details: details))
        }
        if format != .text, let rest = unwrittenText(timeline) {
            Terminal.say("fieldscribe-office: recording \(id): \(rest)")
        }
    }
}
