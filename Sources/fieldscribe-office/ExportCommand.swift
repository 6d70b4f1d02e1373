import Core
import Office
import System
import Transcripts

enum ExportCommand: Command {
    static let name = "export"
    static let summary = "Copy recordings or transcripts out of the archive."
    private static let target = Option(
        "--to", "FOLDER", "copies go to FOLDER/Fieldscribe/RECORDER, transcripts to FOLDER/RECORDER", .folders,
        isRequired: true)
    private static let formats = Option(
        "--format", "F",
        "write transcripts instead: \(TranscriptFormat.allCases.map(\.rawValue).joined(separator: ", ")); separate several with commas",
        .words(TranscriptFormat.allCases.map(\.rawValue)))
    private static let force = Option.flag("--force", "replace transcripts that differ")
    static let help = Filter.help([
        """
        Writes complete, verified copies with the corrections beside them; another archive can gather these copies. With
        --format, writes the transcripts that show prints.
        """,
        Argument.recordings(), target, formats, force,
    ])

    static func run(_ arguments: Arguments) throws {
        guard let target = arguments[target], !target.isEmpty else { throw arguments.usage("--to is missing") }
        let requestedFormats = try (arguments[formats] ?? "").split(separator: ",").map { name in
            guard let format = TranscriptFormat(rawValue: String(name)) else {
                throw arguments.usage("--format \(name): unknown format")
            }
            return format
        }
        guard arguments[formats] == nil || !requestedFormats.isEmpty else {
            throw arguments.usage("--format needs a value")
        }
        guard !arguments[force] || !requestedFormats.isEmpty else { throw arguments.usage("--force requires --format") }
        let archive = try ArchiveChoice.open(arguments)
        let recordings = try Filter.recordings(arguments, in: archive)
        let export = try OfficeExport(of: archive, to: target)
        var (written, existing, refused) = (0, 0, 0)
        for recording in recordings {
            do throws(DeviceError) {
                if requestedFormats.isEmpty {
                    if try export.copy(recording) { written += 1 } else { existing += 1 }
                }
                for format in requestedFormats {
                    let title = recording.title.isEmpty ? "Recording \(recording.id)" : oneLine(recording.title)
                    let isNew = try export.write(recording, as: format, title: title, replaces: arguments[force])
                    if isNew { written += 1 } else { existing += 1 }
                }
            } catch {
                // Every other recording would fail too.
                if error.code == .full || error.code == .disconnected { throw error }
                refused += 1
                Terminal.say("fieldscribe-office: recording \(recording.id): \(error.message)")
            }
        }
        let result =
            requestedFormats.isEmpty
            ? counted(written, "copy", "copies") : counted(written, "transcript", "transcripts")
        var parts = ["\(result) written"]
        if existing > 0 { parts.append("\(existing) already there") }
        if refused > 0 { parts.append("\(refused) refused") }
        try Terminal.print("\(target): \(parts.joined(separator: ", "))\n")
        if refused > 0 { throw ExitError(status: 4) }
    }
}
