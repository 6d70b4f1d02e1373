import Core
import FoundationEssentials

// What goes over the control socket: JSON, one object a line. A request is answered by one response, in order; `watch` is
// answered by events from then on, as `eventJSON` writes them.

/// What a client asks; a line of at most 64 KiB.
package struct ControlRequest: Hashable, Sendable, Codable {
    package enum Command: String, Sendable, Codable {
        case start, stop, toggle, mark, status, watch
        /// The button of a simulated panel, and what its lamp has shown.
        case press, release, lamp
        /// The archive, which the appliance owns as long as it runs.
        case list, show, search, delete, verify
        /// The ledger of copies.
        case exports, exported
        /// How a copy to a stick goes, for the lamp and for those who watch.
        case exporting
    }

    package var command: Command

    /// Of a mark.
    package var text: String?

    /// The number of a recording.
    package var recording: Int?

    /// Of `delete` and `verify`; none for all.
    package var recordings: [Int]?

    /// Of `exports`, in the place of a recording.
    package var volume: String?

    /// Of `exported`.
    package var entry: ExportEntry?

    /// Of `exporting`; the text says how it went.
    package var export: Event.ExportState?

    /// What to search for, and how many places at most.
    package var words: String?
    package var limit: Int?

    /// The storage directory that an archive request is about; nil for the appliance's own.
    package var directory: String?

    /// Whether `watch` is told levels and partial readings, too.
    package var partials: Bool?

    package init(_ command: Command) { self.command = command }
}

/// The answer to a request; of its fields those that belong to the request, or `error` alone.
package struct ControlResponse: Hashable, Sendable, Codable {
    /// What went wrong, as a `DeviceError` says it.
    package struct Failure: Hashable, Sendable, Codable {
        package var code: String
        package var message: String
    }

    /// The recording with its text.
    package struct Transcript: Sendable, Codable {
        package var summary: RecordingSummary
        package var timeline: Timeline
    }

    package var error: Failure?
    package var recording: Int?
    package var mark: Mark?
    package var status: ApplianceStatus?
    package var lamp: [PanelDesk.LampChange]?
    package var recordings: [RecordingSummary]?
    package var transcript: Transcript?
    package var hits: [SearchHit]?
    package var findings: [StorageFinding]?
    package var exports: [ExportEntry]?
    /// What a person should know besides.
    package var notes: [String]?

    init() {}

    init(_ error: DeviceError) { self.error = Failure(code: error.code.rawValue, message: error.message) }

    init(_ answer: Recorder.Answer) {
        recording = answer.recording
        mark = answer.mark
    }
}

extension ControlResponse.Transcript: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        left.summary == right.summary && left.timeline.segments == right.timeline.segments
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(summary) }
}

/// How the appliance is doing; `fieldscribe status --json` prints it.
package struct ApplianceStatus: Hashable, Sendable, Codable {
    package struct Microphone: Hashable, Sendable, Codable {
        package var device: String
        /// `closed`, `listening`, `alive`, or the code of what is wrong: `disconnected`, `microphone-silent` ...
        package var health: String
    }

    package struct Fault: Hashable, Sendable, Codable {
        package var code: String
        package var message: String
        /// RFC 3339, by a clock that is `synchronized` or `unverified`.
        package var time: String
        package var clock: String
    }

    package var state: String
    package var recording: Int?
    package var recordedSeconds: Double
    package var transcribedUpTo: Double
    /// Audio that is recorded and not yet transcribed, over all recordings.
    package var backlogSeconds: Double
    /// Hours of recording until the reserve of the disk is reached.
    package var runwayHours: Double
    package var microphone: Microphone
    package var lastFault: Fault?
    package var directory: String
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
        try JSONDecoder().decode(type, from: Data(line))
    }
}
