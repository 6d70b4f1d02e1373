import Equipment
import Core
import Exporting
import SQLiteArchive

/// One recording's transcript.
enum ShowCommand: Command {
    static let name = "show"
    static let summary = "Show what was said in a recording."
    static let usage = "ID [--format F] [--punctuation P] [--directory DIR]"
    static let details = """
          ID                 a number, as fieldscribe list shows it
          --format F         \(TranscriptFormat.allCases.map(\.rawValue).joined(separator: ", ")); default text
          --punctuation P    engine (as it writes), none, automatic (sentences), spoken (marks that were said) or both;
                             default recognizer.punctuation
          --directory DIR    where the archive is; default storage.directory
        """
    static let options = (values: ["--format", "--punctuation", "--directory"], flags: [String]())

    static func run(_ arguments: Arguments) async throws {
        try arguments.expect(1, "a recording's number")
        let id = try ArchivePlace.number(arguments.rest[0], for: name)
        let format = try arguments.choice(
            "--format", of: TranscriptFormat.allCases, named: \.rawValue, default: .text)
        let place = try await ArchivePlace(arguments)
        guard let (summary, timeline) = try await place.archive.transcript(of: id) else {
            throw DeviceError.noRecording(id, "show")
        }
        // On a terminal alone: a program that reads the text does not ask when it was.
        if Terminal.showsErrors, let powerOn = summary.powerOn {
            Terminal.say("recording \(id): the clock was not set; \(powerOn.text)")
        }
        let punctuator = try arguments.punctuator(arguments.configuration())
        try Terminal.print(format.render(try punctuator.punctuated(timeline)))
        // The text says so itself.
        if format != .text, let rest = unwrittenText(timeline) { Terminal.say("fieldscribe: recording \(id): \(rest)") }
    }
}
