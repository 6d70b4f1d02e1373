import Core
import Glibc
import Maintenance
import System

enum DeleteCommand: Command {
    static let name = "delete"
    static let summary = "Erase recordings with all their text."
    static let usage = "ID... [--yes] [--directory DIR]"
    static let details = """
        Erases sound, text, index entries and the ledger of copies, so that no text is left in the archive's files. Words
        learned from these recordings alone are removed from learned.txt. Copies on sticks stay. A flash card may keep old
        blocks where only the card itself can reach them.

          ID                 numbers, as fieldscribe list shows them
          --yes              do not ask; needed without a terminal
          --directory DIR    the archive; default storage.directory
        """
    static let options = (values: ["--directory"], flags: ["--yes"])

    static func run(_ arguments: Arguments) async throws {
        var ids: [Int] = []
        for text in arguments.rest {
            let id = try ArchivePlace.number(text, for: name)
            if !ids.contains(id) { ids.append(id) }
        }
        guard !ids.isEmpty else {
            throw UsageError("delete: a recording's number is missing; see fieldscribe delete --help")
        }
        let canAsk = isatty(STDIN_FILENO) == 1 && Terminal.showsErrors
        guard arguments.has("--yes") || canAsk else {
            throw UsageError("delete: there is no terminal to ask on; use --yes to erase without asking")
        }
        let place = try await ArchivePlace(arguments)
        let known = try await place.archive.recordings()
        let chosen = try ids.map { id in
            guard let recording = known.first(where: { $0.id == id }) else {
                throw DeviceError.noRecording(id, "delete", "; nothing was erased")
            }
            return recording
        }
        if !arguments.has("--yes") {
            for recording in chosen {
                Terminal.say(
                    "\(recording.id)  \(wallTime(recording.startedAt))  \(RecordingScreen.clock(recording.length))")
            }
            Terminal.prompt(
                "erase \(ids.count == 1 ? "this recording" : "these \(ids.count) recordings") for good? [y/N] ")
            guard ["y", "yes"].contains(readLine(strippingNewline: true)?.lowercased()) else {
                return Terminal.say("nothing was erased")
            }
        }
        let notes = try await erase(ids, in: place)
        Terminal.say("erased: \(ids.map(String.init).joined(separator: ", "))")
        for note in notes { Terminal.say(note) }
    }

    /// Erases the recordings and returns notes for the user.
    private static func erase(_ ids: [Int], in place: ArchivePlace) async throws -> [String] {
        switch place.owner {
        case .us(let archive):
            return try await Erasure(storage: place.directory, archive: archive).erase(ids)
        case .appliance(let archive): return try await archive.delete(ids)
        case .nobody: throw ArchivePlace.Owner.denied(place.directory, name)
        }
    }
}
