import Appliance
import Core
import Maintenance
import Settings
import System
import Transcripts

enum ImportCommand: Command {
    static let name = "import"
    static let summary = "Import corrected texts into the archive."
    private static let recording = Option(
        "--recording", "ID", "the recording, if neither the file nor those beside it name it", .recordings)
    private static let person = Option("--by", "NAME", "who corrected it, if the file does not say so")
    static let help: [any HelpPart] = [
        Argument(
            "FILE...",
            "corrections.json or corrections.html, saved from a recording's page; or an edited transcript: "
                + WrittenText.endings.map { ".\($0)" }.joined(separator: " "), .files),
        recording, person, Option.directory,
        """
        A correction is a separate reading. No later transcription replaces it, and fieldscribe show prints it. If
        anything in a file is wrong, nothing is changed.
        """,
    ]

    /// The largest file in bytes; a day's text in the longest format is smaller.
    private static let largest = 64 << 20

    static func run(_ arguments: Arguments) async throws {
        guard !arguments.rest.isEmpty else {
            throw arguments.usage("name the files")
        }
        let recording = try arguments[recording].map(arguments.recording)
        // Read before this process becomes the archive's owner, who may not read other users' folders.
        let files = arguments.rest.map { path in
            Result { try file(path, recording: recording, person: oneLine(arguments[person] ?? "")) }
        }
        let place = try await ArchivePlace(arguments)
        var configuration = try arguments.configuration()
        configuration.storage.directory = place.directory
        var status: Int32 = 0
        for file in files {
            do {
                try Terminal.print(try await importFile(file.get(), place, configuration) + "\n")
            } catch let error as DeviceError {
                Terminal.say("fieldscribe: \(oneLine(error.message))")
                if status == 0 { status = error.exitStatus }
            }
        }
        if status != 0 { throw ExitError(status: status) }
    }

    static func importFile(
        _ file: CorrectionImport.File, _ place: ArchivePlace, _ configuration: Configuration
    ) async throws -> String {
        switch place.owner {
        case .us(let archive): try await CorrectionImport(configuration, archive: archive).take(file)
        case .appliance(let archive):
            try await archive.take(
                file.text, name: file.name, recording: file.recording, person: file.person,
                neighbour: file.neighbour?.text)
        case .nobody: throw ArchivePlace.Owner.denied(place.directory, name)
        }
    }

    static func file(_ path: String, recording: Int?, person: String) throws(DeviceError) -> CorrectionImport.File {
        // The given path: both of two copies have a `transcript.vtt`.
        let text = try incomingText(try content(ofFile: path, limit: largest), name: path)
        return CorrectionImport.File(
            name: oneLine(path), text: text, recording: recording, person: person,
            neighbour: RecordingIdentity(beside: path))
    }
}
