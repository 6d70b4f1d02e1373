import Core
import Maintenance
import System
import Transcripts

enum DeleteCommand: Command {
    static let name = "delete"
    static let summary = "Erase recordings and all their text."
    static let help: [any HelpPart] = [
        """
        Erases sound and text, also from the index and the ledger of copies, so that no text is left in the archive's
        files. Words learned only from these recordings are removed from learned.txt. Copies on sticks remain. A flash
        card may keep old blocks that only the card itself can reach.
        """,
        Argument("ID...", "recording numbers, as shown by fieldscribe list", .recordings), Option.yes, Option.directory,
    ]

    static func run(_ arguments: Arguments) async throws {
        var uniqueIDs: Set<Int> = []
        let ids = try arguments.recordings.filter { uniqueIDs.insert($0).inserted }
        guard !ids.isEmpty else {
            throw arguments.usage("give at least one recording number")
        }
        try arguments.checkTerminal(toConfirm: "erase")
        let connection = try await ArchiveConnection(arguments)
        let recordings = try await connection.archive.recordings()
        let chosen = try ids.map { id in
            guard let recording = recordings.first(where: { $0.id == id }) else {
                throw DeviceError.noRecording(id, "delete", "; nothing was erased")
            }
            return recording
        }
        if !arguments[.yes] {
            for recording in chosen {
                let title = recording.title.map { "  \(oneLine($0))" } ?? ""
                let length = RecordingScreen.clock(recording.length)
                Terminal.say("\(recording.id)  \(RecordingTable.start(recording))  \(length)\(title)")
            }
        }
        let what = ids.count == 1 ? "this recording" : "these \(ids.count) recordings"
        guard arguments.confirms("erase \(what) permanently?") else { return Terminal.say("nothing was erased") }
        let notes =
            switch connection.mode {
            case .direct(let archive): try await Erasure(storage: connection.directory, archive: archive).erase(ids)
            case .appliance(let archive): try await archive.delete(ids)
            case .readOnly: throw ArchiveConnection.Mode.readOnlyError(connection.directory, name)
            }
        Terminal.say("erased: \(ids.map(String.init).joined(separator: ", "))")
        for note in notes { Terminal.say(note) }
    }
}
