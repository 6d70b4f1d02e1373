import Core
import Office
import System
import Transcripts

enum AddCommand: Command {
    static let name = "add"
    static let summary = "Add audio files to the archive."
    static let help: [any HelpPart] = [
        Argument(
            "FILE...", "audio files, for example from a phone, in any format that fieldscribe transcribe reads", .files),
        GatherCommand.target,
        Option.files("for PostgreSQL: the folder for the copies; all users of the archive must be able to read it"),
        WorkCommand.program,
        """
        Runs fieldscribe add, which transcribes each file, and gathers the results as recordings of a recorder named desk.
        Each copy contains the original file, byte for byte. A file that is already in the archive is not added again.
        """,
        "Exit status: 0 all files are in the archive; 4 a recording was refused; otherwise that of fieldscribe add.",
    ]

    static func run(_ arguments: Arguments) throws {
        guard !arguments.rest.isEmpty else { throw arguments.usage("give at least one file") }
        let archive = try ArchiveChoice.open(arguments, name: arguments[GatherCommand.target], creates: true)
        Interrupts.handle()
        let addition = try OfficeAddition(into: archive, program: arguments[WorkCommand.program])
        let recordings = try addition.recordingsByDigest()
        let files = arguments.rest.filter { path in
            guard let digest = try? OfficeAddition.digest(of: path), let id = recordings[digest] else { return true }
            Terminal.say("fieldscribe-office: \(AddedFile.duplicateError(id, oneLine(path)).message)")
            return false
        }
        if files.isEmpty { return }
        let (report, status, _) = try addition.add(files)
        for line in report.problems + report.notes { Terminal.say("fieldscribe-office: \(line)") }
        try Terminal.print("\(archive.name): \(counted(report.taken, "recording", "recordings")) added\n")
        if !report.problems.isEmpty { throw ExitError(status: 4) }
        if status != 0 { throw ExitError(status: status) }
    }
}
