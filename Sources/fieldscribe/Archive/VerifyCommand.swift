import Upkeep
import Core

/// Checks what is kept, and changes nothing.
enum VerifyCommand: Command {
    static let name = "verify"
    static let summary = "Check audio files, text and database against each other."
    static let usage = "[ID...] [--quick] [--json] [--directory DIR]"
    static let details = """
        Checks each file's length and header, what the archive and the journal beside the audio say about it, the
        order of segments, words, gaps and bookmarks, the silence in the gaps, and the ledger of copies. It also reads
        all of the sound and compares it with the checksums that were made of each second while it was recorded. It
        changes nothing. Each finding is one line with the file and the remedy. Of a recording that is still running
        it checks what is already on the disk, and says so.

          ID                 a number, as fieldscribe list shows it; default all, and the database as a whole
          --quick            do not read the sound, which takes as long as the card needs to read all of it
          --json             one JSON array
          --directory DIR    where archive and recordings are; default storage.directory

        Exit status: 0 all is well; 4 something is damaged.
        """
    static let options = (values: ["--directory"], flags: ["--json", "--quick"])

    static func run(_ arguments: Arguments) async throws {
        let ids = try arguments.rest.map { try ArchivePlace.number($0, for: name) }
        let place = try await ArchivePlace(arguments)
        let isQuick = arguments.has("--quick")
        let findings =
            switch place.owner {
            case .us(let archive):
                try await Verification(storage: place.directory, archive: archive).run(ids, isQuick: isQuick)
            case .appliance(let archive): try await archive.verify(ids, isQuick: isQuick)
            case .nobody: throw ArchivePlace.Owner.denied(place.directory, name)
            }
        let isDamaged = findings.contains { $0.outcome == .damaged }
        if arguments.has("--json") {
            try Terminal.print(jsonText(findings.map(FindingRow.init)))
        } else {
            for finding in findings { try Terminal.print(finding.line + "\n") }
            if !isDamaged { Terminal.say("all is well in \(place.directory)") }
        }
        if isDamaged { throw Ending(status: 4) }
    }
}
