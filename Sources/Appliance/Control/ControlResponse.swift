import Core
import Maintenance

/// What a command to the recorder changed.
package enum RecorderChange: String, Hashable, Sendable, Codable { case started, resumed, paused, stopped }

/// The response to a request. It has either the fields for that request or only `error`.
package struct ControlResponse: Sendable, Codable {
    /// A `DeviceError` in JSON.
    struct Failure: Sendable, Codable {
        /// A `DeviceError.Code`, or a code from a later version.
        var code: String
        /// One line: what failed, on what, and the remedy.
        var message: String
    }

    struct Transcript: Sendable, Codable {
        var summary: RecordingSummary
        var timeline: Timeline
    }

    /// Nil if the request succeeded.
    var error: Failure?
    /// The number of the recording that the request started, changed or added.
    package var recording: Int?
    /// For commands: what the command changed; nil if nothing.
    package var change: RecorderChange?
    /// For commands: the new state of `recording`, or of the recorder if `recording` is nil. Once a recording has
    /// ended, its state is `idle` or `faulted`.
    package var state: Event.State?
    /// For `mark`: the new bookmark.
    package var mark: Bookmark?
    package var status: ApplianceStatus?
    /// For `lamp`: the changes of the lamp, oldest first.
    var lamp: [LampChange]?
    /// For `list`, ordered by number.
    var recordings: [RecordingSummary]?
    /// For `show`; nil if there is no such recording.
    var transcript: Transcript?
    /// For `pass`: the default pass; nil if there is none.
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
    /// For `lock`: whether any recording was open.
    package var wasOpen: Bool?
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

    /// Returns the line to print after a command, such as `paused 7`.
    package func line(after command: RecorderCommand) -> String {
        guard let recording else { return "nothing was being recorded" }
        let wasNotPaused = change == nil && command == .resume
        switch state {
        // An appliance of an earlier version sends no state.
        case nil: return "\(command == .stop ? "stopped" : command == .pause ? "paused" : "recording") \(recording)"
        case .recording:
            let note =
                wasNotPaused ? "; nothing was paused" : change == .resumed && command != .resume ? ", resumed" : ""
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
        /// The device in the configuration, such as `alsa:default`.
        package var device: String
        /// `closed`, `listening`, `alive`, or the code of a fault, such as `disconnected` or `microphone-silent`.
        package var health: String
    }

    /// The last fault.
    package struct Fault: Hashable, Sendable, Codable {
        /// A `DeviceError.Code`, or another code, such as `microphone-silent` or the name of a service.
        var code: String
        /// One line: what failed, on what, and the remedy.
        package var message: String
        /// The time in the format of RFC 3339.
        package var time: String
        /// Whether the clock was set: `synchronized` or `unverified`.
        package var clock: String
    }

    /// Sealed recordings that are open.
    package struct Opened: Hashable, Sendable, Codable {
        package var recordings: [Int]
        /// The seconds until the recordings are locked again.
        package var secondsLeft: Double
    }

    /// An `Event.State`, such as `idle` or `recording`.
    package var state: String
    /// The number of the current recording; nil while idle.
    package var recording: Int?
    /// The length of the current recording, in seconds; 0 while idle.
    package var recordedSeconds: Double
    /// The end of the transcribed part of the current recording, in seconds; 0 while idle.
    package var transcribedUpTo: Double
    /// The total length of untranscribed audio in all recordings, in seconds.
    package var backlogSeconds: Double
    /// The hours of recording for which the disk has space, excluding the reserve.
    package var runwayHours: Double
    package var microphone: Microphone
    /// The last fault since the appliance started, even if it was acknowledged; nil if there was none.
    package var lastFault: Fault?
    package var directory: String

    /// The progress of the running second pass; nil if none is running.
    package var secondPass: SecondPassProgress.Snapshot?
    /// Whether a laptop is connected to the board's own USB port; nil if `usb.drive` is no.
    package var laptop: Bool?
    /// The public key for the recorder's signatures, `RW...`; nil if there is none.
    package var signingKey: String?
    /// The sealed recordings that are open; nil if none are.
    package var opened: Opened?
}
