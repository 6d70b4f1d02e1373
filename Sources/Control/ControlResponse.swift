import Core
import Panel

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

        package init(summary: RecordingSummary, timeline: Timeline) {
            self.summary = summary
            self.timeline = timeline
        }
    }

    package var error: Failure?
    package var recording: Int?
    package var mark: Mark?
    package var status: ApplianceStatus?
    package var lamp: [LampChange]?
    package var recordings: [RecordingSummary]?
    package var transcript: Transcript?
    package var pass: PassSummary?
    package var hits: [SearchHit]?
    package var findings: [StorageFinding]?
    package var exports: [ExportEntry]?
    /// What a person should know besides.
    package var notes: [String]?

    package init() {}

    package init(_ error: DeviceError) { self.error = Failure(code: error.code.rawValue, message: error.message) }
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

        package init(device: String, health: String) {
            self.device = device
            self.health = health
        }
    }

    package struct Fault: Hashable, Sendable, Codable {
        package var code: String
        package var message: String
        /// RFC 3339, by a clock that is `synchronized` or `unverified`.
        package var time: String
        package var clock: String

        package init(code: String, message: String, time: String, clock: String) {
            self.code = code
            self.message = message
            self.time = time
            self.clock = clock
        }
    }

    /// A recording that is being read again.
    package struct SecondPass: Hashable, Sendable, Codable {
        package var recording: Int

        /// Seconds from its beginning that are read.
        package var readUpTo: Double

        /// Its length in seconds.
        package var length: Double

        /// How many more wait for their turn.
        package var waiting: Int

        package init(recording: Int, readUpTo: Double, length: Double, waiting: Int) {
            self.recording = recording
            self.readUpTo = readUpTo
            self.length = length
            self.waiting = waiting
        }
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

    /// What is being read again, slower and better; nil where nothing is.
    package var secondPass: SecondPass?

    package init(
        state: String, recording: Int?, recordedSeconds: Double, transcribedUpTo: Double, backlogSeconds: Double,
        runwayHours: Double, microphone: Microphone, lastFault: Fault?, directory: String, secondPass: SecondPass? = nil
    ) {
        self.secondPass = secondPass
        self.state = state
        self.recording = recording
        self.recordedSeconds = recordedSeconds
        self.transcribedUpTo = transcribedUpTo
        self.backlogSeconds = backlogSeconds
        self.runwayHours = runwayHours
        self.microphone = microphone
        self.lastFault = lastFault
        self.directory = directory
    }
}
