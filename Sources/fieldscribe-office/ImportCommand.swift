import Core
import Office
import System
import Transcripts

enum ImportCommand: Command {
    static let name = "import"
    static let summary = "Add corrections or edited transcripts to the archive."
    private static let recording = Option(
        "--recording", "ID", "the recording number, if neither the file nor the files beside it contain it", .recordings
    )
    private static let person = Option("--by", "NAME", "who made the corrections, if the file does not say so")
    static let help: [any HelpPart] = [
        """
        Adds a correction as a separate transcript, which later transcriptions do not replace. If anything in a file is wrong,
        nothing is imported from it.
        """,
        Argument(
            "FILE...",
            "corrections.json or corrections.html, saved from a recording's page; or a transcript edited in another program: "
                + EditedTranscript.fileExtensions.map { ".\($0)" }.joined(separator: " "), .files),
        recording, person, Option.archive, Option.files,
    ]

    /// The maximum file size in bytes; a day's transcript is smaller in any format.
    private static let maximumBytes = 64 << 20

    static func run(_ arguments: Arguments) throws {
        guard !arguments.rest.isEmpty else { throw arguments.usage("give at least one file") }
        let requested = try arguments[recording].map(arguments.recording)
        let archive = try ArchiveChoice.open(arguments)
        let imports = OfficeImport(archive)
        var status: Int32 = 0
        for path in arguments.rest {
            do throws(DeviceError) {
                let line = try imports.add(
                    content(ofFile: path, limit: maximumBytes), of: path, to: requested,
                    by: oneLine(arguments[person] ?? ""),
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
