import Appliance
import Core
import Maintenance
import System

enum RedactCommand: Command {
    static let name = "redact"
    static let aliases = ["strike"]
    static let summary = "Erase a passage's sound and text permanently."
    private static let last = Option.parsed(
        "--last", "SECONDS", "the last SECONDS of the recording", "give a number of seconds, such as 60"
    ) { text in Double(text).flatMap { $0 > 0 && $0 <= 864_000 ? $0 : nil } }
    static let help: [any HelpPart] = [
        """
        Replaces a passage with silence and removes its words from the transcript, the index and the journal. The
        transcript says that something was removed there. Words learned only from that passage are removed from
        learned.txt. Earlier copies are listed, and the next copy replaces them. A flash card may keep old blocks that
        only the card itself can reach. This command can also be called strike.
        """,
        Argument("[ID]", "a recording number; default the current recording, or the latest one", .recordings),
        Argument("[FROM TO]", "start and end of the passage, such as 754, 12:34 or 1:02:03.5"), last, Option.yes,
        Option.directory,
    ]

    static func run(_ arguments: Arguments) async throws {
        let request = try request(arguments)
        try arguments.checkTerminal(toConfirm: "redact")
        let connection = try await ArchiveConnection(arguments)
        let recording = request.recording.map { "of recording \($0) " } ?? ""
        let clock = { RecordingScreen.clock(seconds: $0 ?? 0) }
        let what = request.last.map { "the last \($0) s" } ?? "\(clock(request.from)) to \(clock(request.to))"
        guard arguments.confirms("erase \(what) \(recording)permanently?") else {
            return Terminal.say("nothing was redacted")
        }
        let (id, notes) =
            switch connection.mode {
            case .direct(let archive):
                try await Redaction(storage: connection.directory, archive: archive).redact(request)
            case .appliance(let archive): try await archive.redact(request)
            case .readOnly: throw ArchiveConnection.Mode.readOnlyError(connection.directory, name)
            }
        Terminal.say("redacted in recording \(id)")
        for note in notes { Terminal.say(note) }
    }

    private static func request(_ arguments: Arguments) throws -> RedactionRequest {
        let rest = arguments.rest
        if let last = arguments[last] {
            guard rest.count <= 1 else {
                throw arguments.usage("give either --last SECONDS or FROM and TO")
            }
            return RedactionRequest(recording: try rest.first.map { try arguments.recording($0) }, last: last)
        }
        guard rest.count == 2 || rest.count == 3 else {
            throw arguments.usage("give the passage as --last SECONDS or as FROM and TO")
        }
        let recording = rest.count == 3 ? try arguments.recording(rest[0]) : nil
        let times = try rest.suffix(2).map { text in
            guard let seconds = seconds(text) else {
                throw UsageError("redact: \(text): give a time such as 754, 12:34 or 1:02:03.5")
            }
            return seconds
        }
        guard times[0] < times[1] else {
            throw UsageError(
                "redact: \(rest.suffix(2).joined(separator: " ")): the second time is not after the first")
        }
        return RedactionRequest(recording: recording, from: times[0], to: times[1])
    }

    /// Parses a time such as `754`, `12:34` or `1:02:03.5`. Returns seconds; nil if the text is not such a time.
    private static func seconds(_ text: String) -> Double? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count) else { return nil }
        var seconds = 0.0
        for (index, part) in parts.enumerated() {
            guard part.utf8.allSatisfy({ $0.isASCIIDigit || $0 == UInt8(ascii: ".") }),
                let number = Double(part), index == parts.count - 1 || number.rounded() == number,
                index == 0 || number < 60
            else { return nil }
            seconds = seconds * 60 + number
        }
        return seconds < 864_000 ? seconds : nil
    }
}
