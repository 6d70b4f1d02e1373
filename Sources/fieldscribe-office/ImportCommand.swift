import Core
import Office
import System
import Transcripts

enum ImportCommand: Command {
    static let name = "import"
    static let summary = "Add corrections or edited transcripts to the archive."
    private static let recording = Option(
        "--recording", "ID", "the recording number, if it is neither in the file nor in the files beside it",
        .recordings)
    private static let person = Option("--by", "NAME", "who made the corrections, if the file does not say so")
    static let help: [any HelpPart] = [
        """
        Adds corrections as a separate transcript, which later transcriptions do not replace. If anything in a file is wrong,
        nothing is imported from that file.
        """,
        Argument(
            "FILE...",
            "corrections.json or corrections.html, saved from a recording's page; or a transcript edited in another program: "
                + EditedTranscript.fileExtensions.map { ".\($0)" }.joined(separator: " "), .files),
        recording, person, Option.archive, Option.files,
    ]

    /// The maximum file size in bytes. The transcript of a whole day is smaller in any format.
    private static let maximumBytes = 64 << 20

    static func run(_ arguments: Arguments) throws {
        guard !arguments.rest.isEmpty else { throw arguments.usage("give at least one file") }
        let requestedID = try arguments[recording].map(arguments.recording)
        let archive = try ArchiveChoice.open(arguments)
        let imports = OfficeImport(archive)
        var status: Int32 = 0
        for path in arguments.rest {
            do throws(DeviceError) {
                let line = try imports.add(
                    content(ofFile: path, limit: maximumBytes), of: path, to: requestedID,
                    by: oneLine(arguments[person] ?? ""),
                    fallback: RecordingIdentity(beside: path), now: MonotonicClock.wallSeconds)
                try Terminal.print(line + "\n")
            } catch {
                Terminal.say("fieldscribe-office: \(oneLine(error.message))")
                if status == 0 { status = error.exitStatus }
            }
        }
        if status != 0 { throw ExitError(status: status) }
    }
}
