import Core

/// What a page says of a recording besides its transcript.
package struct RecordingDetails: Hashable, Sendable {
    /// What the page is headed with.
    package var title: String

    /// The wall time of the start as people read it; nil where it is not known.
    var started: String?

    /// The same as RFC 3339.
    var startedAt: String?

    /// Whether that time can be believed.
    var clock: RecordingSummary.Clock?

    /// Where in a running of the machine it was begun, where that time cannot be believed.
    var powerOn: PowerOn?

    /// Which recorder it is from.
    var device: String?

    /// Which recording it is, for whoever brings it back; nil where that is not known.
    package var identity: RecordingIdentity?

    /// The audio's file name, beside the page.
    package var audio: String

    /// Where the list of all recordings is, relative to the page; nil where there is none.
    var index: String?

    /// The loudest sample of each of so many equal stretches of the recording, 0 to 255; may be empty.
    var peaks: [UInt8]

    /// How long a pause is that `qda` tells, in seconds.
    package var pauseSeconds = 3

    /// Who people may be who have no name, by their letters: from other recordings, and nobody has said so.
    package var proposals: [String: String] = [:]

    /// What was done to it, in its order.
    package var history: [HistoryEntry] = []

    /// How the page speaks with the server that gives it out; nil where it is a file.
    package var served: ServedPage?

    package init(
        title: String, started: String? = nil, startedAt: String? = nil, clock: RecordingSummary.Clock? = nil,
        powerOn: PowerOn? = nil, device: String? = nil, audio: String = "audio.wav", index: String? = nil,
        peaks: [UInt8] = [], identity: RecordingIdentity? = nil
    ) {
        self.identity = identity
        self.powerOn = powerOn
        self.title = title
        self.started = started
        self.startedAt = startedAt
        self.clock = clock
        self.device = device
        self.audio = audio
        self.index = index
        self.peaks = peaks
    }

    /// What a transcript alone tells: it is named after its file, or after the folder in which `audio.wav` lies.
    package init(_ timeline: Timeline) {
        self.init(title: timeline.name, audio: timeline.name.contains(".") ? timeline.name : "audio.wav")
    }
}
