import Core
import System
import Transcripts

enum HistoryCommand: Command {
    static let name = "history"
    static let summary = "Show what was done to recordings, and when."
    static let help: [any HelpPart] = [
        """
        Lists what was recorded, paused, transcribed, corrected, copied (to which stick), sealed, opened, redacted and
        erased: one entry per line, with the time in UTC. If the clock was not set, the entry says so and has the
        seconds since power-on. Each entry contains the SHA-256 of the previous one, so that fieldscribe verify finds
        missing, changed and moved entries. The history remains when recordings are erased; it contains neither text
        nor names.
        """,
        Argument(
            "[ID]", "a recording number, as shown by fieldscribe list, or that of an erased recording; default all",
            .recordings),
        Option.json("print one JSON array, with each entry as it is stored"), Option.directory,
    ]

    static func run(_ arguments: Arguments) async throws {
        guard arguments.rest.count <= 1 else {
            throw arguments.usage("give one recording number, or none for all recordings")
        }
        let id = try arguments.rest.first.map { try arguments.recording($0) }
        let connection = try await ArchiveConnection(arguments)
        let lines = try await connection.archive.history(of: id)
        if let id, lines.isEmpty, try await !connection.archive.recordings().contains(where: { $0.id == id }) {
            throw DeviceError.noRecording(id, name)
        }
        if arguments[.json] { return try Terminal.print(historyDocument(lines)) }
        if lines.isEmpty { return Terminal.say("there are no entries: recordings may be older than the history") }
        for line in lines {
            let entry = line.entry
            let clock = entry.clock == .synchronized ? "" : "  clock-unverified, \(entry.sinceBoot) s after power-on"
            let boot = entry.boot.map { "  boot \($0.prefix(8))" } ?? ""
            let recording = entry.recording.map { "  recording \($0)" } ?? ""
            try Terminal.print("\(entry.number)  \(entry.time)\(clock)\(boot)\(recording)  \(entry.sentence)\n")
        }
    }
}
