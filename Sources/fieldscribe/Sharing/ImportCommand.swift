import Appliance
import Core
import Maintenance
import Settings
import System
import Transcripts

enum ImportCommand: Command {
    static let name = "import"
    static let summary = "Import corrected transcripts into the archive."
    private static let recording = Option(
        "--recording", "ID", "the recording number, if neither the file nor the files beside it contain it", .recordings
    )
    private static let person = Option("--by", "NAME", "who made the corrections, if the file does not say so")
    static let help: [any HelpPart] = [
        Argument(
            "FILE...",
            "corrections.json or corrections.html, saved from a recording's page; or an edited transcript: "
                + EditedTranscript.fileExtensions.map { ".\($0)" }.joined(separator: " "), .files),
        recording, person, Option.directory,
        """
        A correction is stored as a separate transcript. Later transcriptions do not replace it, and fieldscribe show
        prints it. If anything in a file is wrong, nothing is imported from it.
        """,
    ]

    /// The maximum file size in bytes; a day's transcript is smaller in any format.
    private static let maximumBytes = 64 << 20

    static func run(_ arguments: Arguments) async throws {
        guard !arguments.rest.isEmpty else {
            throw arguments.usage("give at least one file")
        }
        let recording = try arguments[recording].map(arguments.recording)
        // Read before this process switches to the archive's owner, who may have no access to the user's folders.
        let files = arguments.rest.map { path in
            Result { try file(path, recording: recording, person: oneLine(arguments[person] ?? "")) }
        }
        let connection = try await ArchiveConnection(arguments)
        var configuration = try arguments.configuration()
        configuration.storage.directory = connection.directory
        var status: Int32 = 0
        for file in files {
            do {
                try Terminal.print(try await importFile(file.get(), connection, configuration) + "\n")
            } catch let error as DeviceError {
                Terminal.say("fieldscribe: \(oneLine(error.message))")
                if status == 0 { status = error.exitStatus }
            }
        }
        if status != 0 { throw ExitError(status: status) }
    }

    static func importFile(
        _ file: CorrectionImport.File, _ connection: ArchiveConnection, _ configuration: Configuration
    ) async throws -> String {
        switch connection.mode {
        case .direct(let archive): try await CorrectionImport(configuration, archive: archive).apply(file)
        case .appliance(let archive):
            try await archive.importCorrections(
                file.text, name: file.name, recording: file.recording, person: file.person,
                siblingIdentity: file.siblingIdentity?.text)
        case .readOnly: throw ArchiveConnection.Mode.readOnlyError(connection.directory, name)
        }
    }

    static func file(_ path: String, recording: Int?, person: String) throws(DeviceError) -> CorrectionImport.File {
        // Messages contain the path, because transcripts have the same name in every copy, such as `transcript.vtt`.
        let text = try incomingText(try content(ofFile: path, limit: maximumBytes), name: path)
        return CorrectionImport.File(
            name: oneLine(path), text: text, recording: recording, person: person,
            siblingIdentity: RecordingIdentity(beside: path))
    }
}
