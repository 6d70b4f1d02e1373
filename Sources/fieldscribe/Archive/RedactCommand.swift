import Appliance
import Core
import Glibc
import Maintenance
import System

enum RedactCommand: Command {
    static let name = "redact"
    static let aliases = ["strike"]
    static let summary = "Erase a passage's sound and text for good."
    static let usage = "[ID] --last SECONDS | FROM TO [--yes] [--directory DIR]"
    static let details = """
        Replaces a passage by silence and removes its words from text, index and journal. The transcript says that
        something was removed there. Words learned from that passage alone are removed from learned.txt. Copies made
        before are listed, and the next copy replaces them. A flash card may keep old blocks where only the card itself can
        reach them. The command's other name is strike.

          ID                 the recording's number; default the current recording, else the latest
          --last SECONDS     its last seconds, or what was said just now
          FROM TO            from one time to another: 754, 12:34 or 1:02:03.5
          --yes              do not ask; needed without a terminal
          --directory DIR    the archive; default storage.directory
        """
    static let options = (values: ["--last", "--directory"], flags: ["--yes"])

    static func run(_ arguments: Arguments) async throws {
        let order = try order(arguments)
        let canAsk = isatty(STDIN_FILENO) == 1 && Terminal.showsErrors
        guard arguments.has("--yes") || canAsk else {
            throw UsageError("redact: there is no terminal to ask on; use --yes to redact without asking")
        }
        let place = try await ArchivePlace(arguments)
        if !arguments.has("--yes") {
            let which = order.recording.map { "of recording \($0) " } ?? ""
            let what =
                order.last.map { "the last \($0) s" }
                ?? "from \(RecordingScreen.clock(SamplePosition(seconds: order.from ?? 0))) to "
                + RecordingScreen.clock(SamplePosition(seconds: order.to ?? 0))
            Terminal.prompt("erase \(what) \(which)for good? [y/N] ")
            guard ["y", "yes"].contains(readLine(strippingNewline: true)?.lowercased()) else {
                return Terminal.say("nothing was redacted")
            }
        }
        let (id, notes) = try await redact(order, in: place)
        Terminal.say("redacted in recording \(id)")
        for note in notes { Terminal.say(note) }
    }

    private static func redact(_ order: RedactionOrder, in place: ArchivePlace) async throws -> (Int, [String]) {
        switch place.owner {
        case .us(let archive):
            return try await Redaction(storage: place.directory, archive: archive).strike(order)
        case .appliance(let archive): return try await archive.strike(order)
        case .nobody: throw ArchivePlace.Owner.denied(place.directory, name)
        }
    }

    private static func order(_ arguments: Arguments) throws -> RedactionOrder {
        let rest = arguments.rest
        if let text = arguments["--last"] {
            guard let last = Double(text), last > 0, last <= 864_000 else {
                throw UsageError("redact: --last \(text): give seconds, such as 60")
            }
            guard rest.count <= 1 else {
                throw UsageError("redact: give either --last SECONDS or FROM and TO; see fieldscribe redact --help")
            }
            return RedactionOrder(recording: try rest.first.map { try ArchivePlace.number($0, for: name) }, last: last)
        }
        guard rest.count == 2 || rest.count == 3 else {
            throw UsageError("redact: name the passage: --last SECONDS, or FROM and TO; see fieldscribe redact --help")
        }
        let recording = rest.count == 3 ? try ArchivePlace.number(rest[0], for: name) : nil
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
        return RedactionOrder(recording: recording, from: times[0], to: times[1])
    }

    /// Parses `754`, `12:34` or `1:02:03.5` to seconds.
    private static func seconds(_ text: String) -> Double? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count) else { return nil }
        var seconds = 0.0
        for (index, part) in parts.enumerated() {
            guard part.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }),
                let number = Double(part), index == parts.count - 1 || number.rounded() == number,
                index == 0 || number < 60
            else { return nil }
            seconds = seconds * 60 + number
        }
        return seconds < 864_000 ? seconds : nil
    }
}
