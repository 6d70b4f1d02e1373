import Upkeep
import Core

/// Checks what is kept, and changes nothing.
enum VerifyCommand: Command {
    static let name = "verify"
    static let summary = "Check audio files, text and database against each other."
    static let usage = "[ID...] [--json] [--directory DIR]"
    static let details = """
        Checks each file's length and header, what the archive and the journal beside the audio say of it, the
        order of segments, words, gaps and bookmarks, the silence in the gaps, and the ledger of copies. Changes
        nothing. Each finding is one line with the file and the remedy.

          ID                 a number, as fieldscribe list shows it; default all, and the database as a whole
          --json             one JSON array
          --directory DIR    where archive and recordings are; default storage.directory

        Exit status: 0 all is well; 4 something is damaged.
        """
    static let options = (values: ["--directory"], flags: ["--json"])

    static func run(_ arguments: Arguments) async throws {
        let ids = try arguments.rest.map { try ArchivePlace.number($0, for: name) }
        let place = try await ArchivePlace(arguments)
        let findings =
            switch place.owner {
            case .us(let archive): try await Verification(storage: place.directory, archive: archive).run(ids)
            case .appliance(let archive): try await archive.verify(ids)
            case .nobody: throw ArchivePlace.Owner.denied(place.directory, name)
            }
        if arguments.has("--json") {
            try Terminal.print(jsonText(findings.map(FindingRow.init)))
        } else {
            for finding in findings { try Terminal.print(finding.line + "\n") }
            if findings.isEmpty { Terminal.say("all is well in \(place.directory)") }
        }
        if !findings.isEmpty { throw Ending(status: 4) }
    }
}
