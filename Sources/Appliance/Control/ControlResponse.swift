import Core

/// The answer to a request; of its fields those that belong to the request, or `error` alone.
package struct ControlResponse: Hashable, Sendable, Codable {
    /// What went wrong, as a `DeviceError` says it.
    struct Failure: Hashable, Sendable, Codable {
        /// `DeviceError.Code`, or on the wire whatever a later version has.
        var code: String
        /// One line: what failed, on what, and the remedy.
        var message: String
    }

    /// The recording with its text.
    struct Transcript: Sendable, Codable {
        /// What the archive knows of the recording.
        var summary: RecordingSummary
        /// Its text, of the pass that is shown.
        var timeline: Timeline

        init(summary: RecordingSummary, timeline: Timeline) {
            self.summary = summary
            self.timeline = timeline
        }
    }

    /// Why the request failed; then nothing else is set.
    var error: Failure?
    /// The number of the recording that was started, stopped or marked.
    package var recording: Int?
    /// Of `mark`: the bookmark as it was set.
    package var mark: Bookmark?
    /// Of `status`.
    package var status: ApplianceStatus?
    /// Of `lamp`: what the lamp has shown, oldest first.
    var lamp: [LampChange]?
    /// Of `list`, in the order of their numbers.
    var recordings: [RecordingSummary]?
    /// Of `show`; nil where there is no such recording.
    var transcript: Transcript?
    /// Of `pass`: the reading that is shown; nil where there is none.
    var pass: PassSummary?
    /// Of `passes`, in the order in which they were begun.
    var passes: [PassSummary]?
    /// Of `search`, best first.
    var hits: [SearchHit]?
    /// Of `history`, in the order in which it was done.
    var history: [HistoryLine]?
    /// Of `verify`; empty where all is well.
    var findings: [StorageFinding]?
    /// Of `exports`, in the order in which they were made.
    var exports: [ExportEntry]?
    /// Of `claim`: whether the button is held for it.
    package var isHeld: Bool?
    /// Of `lock`: whether anything was open.
    package var wasOpen: Bool?
    /// What a person should know besides.
    package var notes: [String]?

    init() {}

    /// The answer to a request that failed.
    init(_ error: DeviceError) { self.error = Failure(code: error.code.rawValue, message: error.message) }
}

extension ControlResponse.Transcript: Hashable {
    static func == (left: Self, right: Self) -> Bool {
        left.summary == right.summary && left.timeline.segments == right.timeline.segments
    }

    func hash(into hasher: inout Hasher) { hasher.combine(summary) }
}

/// How the appliance is doing; `fieldscribe status --json` prints it.
package struct ApplianceStatus: Hashable, Sendable, Codable {
    /// The microphone and how it does.
    package struct Microphone: Hashable, Sendable, Codable {
        /// As the configuration names it: `alsa:default`.
        package var device: String
        /// `closed`, `listening`, `alive`, or the code of what is wrong: `disconnected`, `microphone-silent` ...
        package var health: String

        init(device: String, health: String) {
            self.device = device
            self.health = health
        }
    }

    /// The last thing that went wrong.
    package struct Fault: Hashable, Sendable, Codable {
        /// `DeviceError.Code`, or that of an ailing microphone: `microphone-silent`.
        var code: String
        /// One line: what failed, on what, and the remedy.
        package var message: String
        /// RFC 3339, by a clock that is `synchronized` or `unverified`.
        package var time: String
        /// Whether `time` can be believed: `synchronized` or `unverified`.
        package var clock: String

        init(code: String, message: String, time: String, clock: String) {
            self.code = code
            self.message = message
            self.time = time
            self.clock = clock
        }
    }

    /// A recording that is being read again.
    package struct SecondPass: Hashable, Sendable, Codable {
        /// The number of the recording that was started, stopped or marked.
        package var recording: Int

        /// Seconds from its beginning that are read.
        package var readUpTo: Double

        /// Its length in seconds.
        package var length: Double

        /// How many more wait for their turn.
        package var waiting: Int

        init(recording: Int, readUpTo: Double, length: Double, waiting: Int) {
            self.recording = recording
            self.readUpTo = readUpTo
            self.length = length
            self.waiting = waiting
        }
    }

    /// Sealed recordings that a private key has opened.
    package struct Opened: Hashable, Sendable, Codable {
        /// Their numbers.
        package var recordings: [Int]
        /// Until they are locked.
        package var secondsLeft: Double

        init(recordings: [Int], secondsLeft: Double) {
            self.recordings = recordings
            self.secondsLeft = secondsLeft
        }
    }

    /// `Event.State`: `idle`, `recording`, `stopping` or `faulted`.
    package var state: String
    /// The number of the current recording; nil while there is none.
    package var recording: Int?
    /// How long the current recording is, in seconds; 0 while there is none.
    package var recordedSeconds: Double
    /// How far its transcript has come, in seconds from its start.
    package var transcribedUpTo: Double
    /// Audio that is recorded and not yet transcribed, over all recordings.
    package var backlogSeconds: Double
    /// Hours of recording until the reserve of the disk is reached.
    package var runwayHours: Double
    /// The microphone and how it does.
    package var microphone: Microphone
    /// The last fault since the appliance started, acknowledged or not; nil where there was none.
    package var lastFault: Fault?
    /// The storage directory.
    package var directory: String

    /// The public key by which the recorder signs, `RW...`; nil where it has none.
    package var signingKey: String?

    /// What is being read again, slower and better; nil where nothing is.
    package var secondPass: SecondPass?
    /// Whether a laptop is connected that sees the drive; nil with `usb.drive = no`.
    package var laptop: Bool?
    /// What is sealed and open now; nil where nothing is.
    package var opened: Opened?

    init(
        state: String, recording: Int?, recordedSeconds: Double, transcribedUpTo: Double, backlogSeconds: Double,
        runwayHours: Double, microphone: Microphone, lastFault: Fault?, directory: String,
        secondPass: SecondPass? = nil, laptop: Bool? = nil, signingKey: String? = nil, opened: Opened? = nil
    ) {
        self.opened = opened
        self.laptop = laptop
        self.signingKey = signingKey
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
