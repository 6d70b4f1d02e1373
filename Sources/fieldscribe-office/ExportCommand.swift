import Core
import Office
import System
import Transcripts

enum ExportCommand: OfficeCommand {
    static let name = "export"
    static let summary = "Copy recordings or transcripts out of the archive."
    static let usage =
        "[ID...] --to FOLDER [--format F [--force]] \(FilterOptions.usage) [--archive ARCHIVE] [--files FOLDER]"
    static let details = """
        Copies are complete and checked, with the corrections saved beside them; another archive can gather them. With --format,
        writes the transcripts that show prints.

          ID                   numbers from fieldscribe-office list; default all
          --to FOLDER          copies go to FOLDER/Fieldscribe/RECORDER, transcripts to FOLDER/RECORDER
          --format F           write transcripts instead: \(TranscriptFormat.allCases.map(\.rawValue).joined(separator: ", ")); several
                               with commas between them
          --force              replace transcripts that differ
        \(FilterOptions.explained)
        """
    static let options = (values: FilterOptions.names + ["--to", "--format"], flags: ["--force"])

    static func run(_ words: OptionWords) throws {
        guard let target = words["--to"], !target.isEmpty else { throw words.usage("--to is missing") }
        let formats = try (words["--format"] ?? "").split(separator: ",").map { name in
            guard let format = TranscriptFormat(rawValue: String(name)) else {
                throw words.usage("--format \(name): unknown format")
            }
            return format
        }
        guard words["--format"] == nil || !formats.isEmpty else { throw words.usage("--format needs a value") }
        guard !words.has("--force") || !formats.isEmpty else { throw words.usage("--force requires --format") }
        let archive = try ArchiveChoice.open(words)
        let recordings = try FilterOptions.recordings(words, in: archive)
        let export = try OfficeExport(of: archive, to: target)
        var (new, known, refused) = (0, 0, 0)
        for recording in recordings {
            do throws(DeviceError) {
                if formats.isEmpty {
                    if try export.copy(recording) { new += 1 } else { known += 1 }
                }
                for format in formats {
                    let title = recording.title.isEmpty ? "Recording \(recording.id)" : oneLine(recording.title)
                    let isNew = try export.write(recording, as: format, title: title, replaces: words.has("--force"))
                        .isNew
                    if isNew { new += 1 } else { known += 1 }
                }
            } catch {
                // Every other recording would fail, too.
                if error.code == .full || error.code == .disconnected { throw error }
                refused += 1
                Terminal.say("fieldscribe-office: recording \(recording.id): \(error.message)")
            }
        }
        let what = formats.isEmpty ? counted(new, "copy", "copies") : counted(new, "text", "texts")
        var parts = ["\(what) written"]
        if known > 0 { parts.append("\(known) there already") }
        if refused > 0 { parts.append("\(refused) refused") }
        try Terminal.print("\(target): \(parts.joined(separator: ", "))\n")
        if refused > 0 { throw Ending(status: 4) }
    }
}
