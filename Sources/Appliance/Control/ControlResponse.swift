import Core
import Maintenance

/// What an order to the recorder changed.
package enum OrderChange: String, Hashable, Sendable, Codable { case started, resumed, paused, stopped }

/// The response to a request: the fields that belong to the request, or only `error`.
package struct ControlResponse: Sendable, Codable {
    /// A `DeviceError` on the wire.
    struct Failure: Sendable, Codable {
        /// `DeviceError.Code`, or the code of a later version.
        var code: String
        /// One line: what failed, on what, and the remedy.
        var message: String
    }

    struct Transcript: Sendable, Codable {
        var summary: RecordingSummary
        var timeline: Timeline
    }

    /// If set, the request failed, and no other field is set.
    var error: Failure?
    /// The number of the recording that was started, stopped, paused, resumed or marked.
    package var recording: Int?
    /// For orders: what the order changed; nil if nothing.
    package var change: OrderChange?
    /// For orders: the state that follows. Of `recording`, if there is a number: `idle` or `faulted` once it has ended.
    package var state: Event.State?
    /// For `mark`: the new bookmark.
    package var mark: Bookmark?
    package var status: ApplianceStatus?
    /// For `lamp`: what the lamp has shown, oldest first.
    var lamp: [LampChange]?
    /// For `list`, ordered by number.
    var recordings: [RecordingSummary]?
    /// For `show`; nil if there is no such recording.
    var transcript: Transcript?
    /// For `pass`: the default pass; nil without one.
    var pass: PassSummary?
    /// For `passes`, ordered by start.
    var passes: [PassSummary]?
    /// For `search`, best first.
    var hits: [SearchHit]?
    /// For `history`, oldest first.
    var history: [HistoryLine]?
    /// For `verify`; empty if there is no damage.
    var findings: [StorageFinding]?
    /// For `exports`, oldest first.
    var exports: [ExportEntry]?
    /// For `claim`: whether the button is held.
    package var isHeld: Bool?
    /// For `lock`: whether anything was open.
    package var wasOpen: Bool?
    /// Remarks for the user.
    package var notes: [String]?
}

extension ControlResponse {
    init(_ error: DeviceError) {
        self.init()
        self.error = Failure(code: error.code.rawValue, message: error.message)
    }

    init(_ answer: Recorder.Answer) {
        self.init()
        recording = answer.recording
        mark = answer.mark
        change = answer.change
        state = answer.state
    }

    /// Returns the state that follows an order, as its command prints it: `paused 7`.
    package func line(after order: RecorderOrder) -> String {
        guard let recording else { return "nothing was being recorded" }
        let isKept = change == nil && order == .resume
        switch state {
        // An appliance of an earlier version sends no state.
        case nil: return "\(order == .stop ? "stopped" : order == .pause ? "paused" : "recording") \(recording)"
        case .recording:
            let note = isKept ? "; nothing was paused" : change == .resumed && order != .resume ? ", resumed" : ""
            return "recording \(recording)\(note)"
        case .paused: return "paused \(recording)"
        case .stopping: return "stopping \(recording)"
        case .idle, .faulted: return "stopped \(recording)"
        }
    }
}

/// The status of the appliance; `fieldscribe status --json` prints it.
package struct ApplianceStatus: Hashable, Sendable, Codable {
    /// The microphone and its health.
    package struct Microphone: Hashable, Sendable, Codable {
        /// As the configuration names it: `alsa:default`.
        package var device: String
        /// `closed`, `listening`, `alive`, or the code of a fault: `disconnected`, `microphone-silent` ...
        package var health: String
    }

    /// The last fault.
    package struct Fault: Hashable, Sendable, Codable {
        /// `DeviceError.Code`, or a code of the microphone: `microphone-silent`.
        var code: String
        /// One line: what failed, on what, and the remedy.
        package var message: String
        /// RFC 3339.
        package var time: String
        /// Whether `time` can be believed: `synchronized` or `unverified`.
        package var clock: String
    }

    /// Sealed recordings that are open.
    package struct Opened: Hashable, Sendable, Codable {
        package var recordings: [Int]
        /// The time until they are locked.
        package var secondsLeft: Double
    }

    /// `Event.State`: `idle`, `recording`, `stopping` or `faulted`.
    package var state: String
    /// The number of the current recording; nil while idle.
    package var recording: Int?
    /// The length of the current recording; 0 while idle.
    package var recordedSeconds: Double
    /// The position that its transcript has reached, in seconds.
    package var transcribedUpTo: Double
    /// Audio not yet transcribed, over all recordings.
    package var backlogSeconds: Double
    /// Hours of recording until the reserve of the disk is reached.
    package var runwayHours: Double
    package var microphone: Microphone
    /// The last fault since the appliance started, acknowledged or not.
    package var lastFault: Fault?
    package var directory: String

    /// The running second pass.
    package var secondPass: SecondPassProgress.Reading?
    /// Whether a laptop is connected to the USB drive; nil with `usb.drive = no`.
    package var laptop: Bool?
    /// The public key of the recorder's signatures, `RW...`; nil if it has none.
    package var signingKey: String?
    /// The sealed recordings that are open; nil if none are.
    package var opened: Opened?
}
