import Core
import Office
import System
import Transcripts

enum ImportCommand: Command {
    static let name = "import"
    static let summary = "Add corrections or edited transcripts to the archive."
    private static let recording = Option(
        "--recording", "ID", "the recording, if neither the file nor those beside it name it", .recordings)
    private static let person = Option("--by", "NAME", "who corrected it, if the file does not name them")
    static let help: [any HelpPart] = [
        """
        Adds a correction as another transcript of the recording, which no engine replaces. Imports a file completely, or changes
        nothing.
        """,
        Argument(
            "FILE...",
            "corrections.json or corrections.html, saved from a recording's page; or a transcript edited in another program: "
                + WrittenText.endings.map { ".\($0)" }.joined(separator: " "), .files),
        recording, person, Option.archive, Option.files,
    ]

    /// The largest file: a day's transcript in the longest format is smaller.
    private static let largest = 64 << 20

    static func run(_ arguments: Arguments) throws {
        guard !arguments.rest.isEmpty else { throw arguments.usage("name the files") }
        let asked = try arguments[recording].map(arguments.recording)
        let archive = try ArchiveChoice.open(arguments)
        let imports = OfficeImport(archive)
        var status: Int32 = 0
        for path in arguments.rest {
            do throws(DeviceError) {
                let line = try imports.add(
                    content(ofFile: path, limit: largest), of: path, to: asked, by: oneLine(arguments[person] ?? ""),
                    neighbour: RecordingIdentity(beside: path), now: MonotonicClock.wallSeconds)
                try Terminal.print(line + "\n")
            } catch {
                Terminal.say("fieldscribe-office: \(oneLine(error.message))")
                if status == 0 { status = error.exitStatus }
            }
        }
        if status != 0 { throw ExitError(status: status) }
    }
}
