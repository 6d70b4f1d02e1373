import Appliance
import Core
import Glibc
import Maintenance
import System

/// Strikes what was said off the record.
enum StrikeCommand: Command {
    static let name = "strike"
    static let summary = "Put silence in the place of what was said off the record, and erase its text."
    static let usage = "[ID] --last SECONDS | FROM TO [--yes] [--directory DIR]"
    static let details = """
        For good: sound, text, index and journal no longer have it, and the transcript says that something was struck
        there. Words that were corrected there alone are taken out of learned.txt. Copies that were made before are named;
        the next copy replaces them. A flash card may keep old blocks for itself where only the card can reach them.

          ID                 a recording's number; default: the recording that goes on, else the latest
          --last SECONDS     the end of it, or what was said just now
          FROM TO            from one time to another: 754, 12:34 or 1:02:03.5
          --yes              do not ask; needed where there is no terminal to ask on
          --directory DIR    where archive and recordings are; default storage.directory
        """
    static let options = (values: ["--last", "--directory"], flags: ["--yes"])

    static func run(_ arguments: Arguments) async throws {
        let order = try order(arguments)
        let canAsk = isatty(STDIN_FILENO) == 1 && Terminal.showsErrors
        guard arguments.has("--yes") || canAsk else {
            throw UsageError("strike: there is no terminal to ask on; use --yes to strike without asking")
        }
        let place = try await ArchivePlace(arguments)
        if !arguments.has("--yes") {
            let which = order.recording.map { "of recording \($0) " } ?? ""
            let what =
                order.last.map { "the last \($0) s" }
                ?? "from \(RecordingScreen.clock(SamplePosition(seconds: order.from ?? 0))) to "
                + RecordingScreen.clock(SamplePosition(seconds: order.to ?? 0))
            Terminal.prompt("strike \(what) \(which)for good? [y/N] ")
            guard ["y", "yes"].contains(readLine(strippingNewline: true)?.lowercased()) else {
                return Terminal.say("nothing was struck")
            }
        }
        let (id, notes) = try await strike(order, in: place)
        Terminal.say("struck in recording \(id)")
        for note in notes { Terminal.say(note) }
    }

    private static func strike(_ order: RedactionOrder, in place: ArchivePlace) async throws -> (Int, [String]) {
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
                throw UsageError("strike: --last \(text): give seconds, such as 60")
            }
            guard rest.count <= 1 else {
                throw UsageError("strike: give either --last SECONDS or FROM and TO; see fieldscribe strike --help")
            }
            return RedactionOrder(recording: try rest.first.map { try ArchivePlace.number($0, for: name) }, last: last)
        }
        guard rest.count == 2 || rest.count == 3 else {
            throw UsageError("strike: say what: --last SECONDS, or FROM and TO; see fieldscribe strike --help")
        }
        let recording = rest.count == 3 ? try ArchivePlace.number(rest[0], for: name) : nil
        let times = try rest.suffix(2).map { text in
            guard let seconds = seconds(text) else {
                throw UsageError("strike: \(text): give a time such as 754, 12:34 or 1:02:03.5")
            }
            return seconds
        }
        guard times[0] < times[1] else {
            throw UsageError(
                "strike: \(rest.suffix(2).joined(separator: " ")): the second time is not behind the first")
        }
        return RedactionOrder(recording: recording, from: times[0], to: times[1])
    }

    /// A time as people write it, in seconds; nil for what is none.
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
