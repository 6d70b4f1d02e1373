import Core
import FoundationEssentials

// What goes over the control socket: JSON, one object a line. A request is answered by one response, in order; `watch` is
// answered by events from then on, as `eventJSON` writes them.

/// What a client asks; a line of at most 64 KiB.
package struct ControlRequest: Hashable, Sendable, Codable {
    /// What is asked; the raw values stand on the wire.
    package enum Command: String, Sendable, Codable {
        case start, stop, toggle, mark, status, watch
        /// The button of a simulated panel, and what its lamp has shown.
        case press, release, lamp
        /// The archive, which the appliance owns as long as it runs.
        case list, show, pass, passes, search, delete, verify
        /// The ledger of copies.
        case exports, exported
        /// What people have put right, a part of a file at a time.
        case importing
        /// How a copy to a stick goes, for the lamp and for those who watch.
        case exporting
        /// Other settings were kept: they are to count once nothing is being recorded.
        case settings

        /// Whether nobody is left who wants it once the client is gone.
        var onlyReads: Bool {
            switch self {
            case .list, .show, .pass, .passes, .search, .verify, .exports, .status: true
            default: false
            }
        }

        /// Whether its answer may take long, or comes only when the client goes.
        var mayTakeLong: Bool {
            switch self {
            case .watch, .list, .show, .pass, .passes, .search, .verify, .delete, .importing: true
            default: false
            }
        }
    }

    /// What is asked.
    package var command: Command

    /// Of a mark.
    package var text: String?

    /// Of `importing`.
    package var part: ImportPart?

    /// The number of a recording.
    package var recording: Int?

    /// Of `show`: one of the recording's passes in the place of the one that is shown.
    package var pass: Int?

    /// Of `delete` and `verify`; none for all.
    package var recordings: [Int]?

    /// Whether `verify` leaves the sound alone.
    package var quick: Bool?

    /// Of `exports`, in the place of a recording.
    package var volume: String?

    /// Of `exported`.
    package var entry: ExportEntry?

    /// Of `exporting`; the text says how it went.
    package var export: Event.ExportState?

    /// What to search for, and how many places at most.
    package var words: String?
    /// Of `search`: at most so many places.
    package var limit: Int?

    /// The storage directory that an archive request is about; nil for the appliance's own.
    package var directory: String?

    /// Whether `watch` is told levels and partial readings, too.
    package var partials: Bool?

    package init(_ command: Command) { self.command = command }
}

/// Messages as lines, without their line breaks.
enum ControlLine {
    /// The longest request.
    static let longest = 65_536

    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // All of our messages can be encoded.
        return (try? encoder.encode(value)).map { Array($0) }
            ?? Array(#"{"error":{"code":"failed","message":""}}"#.utf8)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from line: [UInt8]) throws -> Value {
        try JSONDecoder().decode(type, from: Data(JSONStrings.check(line)))
    }
}
