import Core

/// Details of a recording for pages, besides its transcript.
package struct RecordingDetails: Hashable, Sendable {
    /// The page's title if nobody gave one.
    package var title: String
    /// The start in local time for people; nil if unknown.
    var started: String?
    /// RFC 3339.
    var startedAt: String?
    /// Whether the clock was set at the start.
    var clock: RecordingSummary.Clock?
    /// The position since power-on, if the clock was not set.
    var powerOn: PowerOn?
    var device: String?
    /// Identifies the recording when the file is imported; nil if unknown.
    package var identity: RecordingIdentity?
    /// A file in the page's folder.
    package var audio: String
    /// The relative link to the list of recordings; nil if there is none.
    var index: String?
    /// The peaks of equal parts of the recording, 0 to 255; may be empty.
    var peaks: [UInt8]
    /// The shortest pause that `qda` shows, in seconds.
    package var pauseSeconds = 3
    /// Unconfirmed names for speakers by their labels, from voices in other recordings.
    package var proposals: [String: String] = [:]
    /// Oldest first.
    package var history: [HistoryEntry] = []
    /// The page's connection to its server; nil for a file.
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

    /// Derives the details from a transcript: without a title, it is named after its file, or the folder of `audio.wav`.
    package init(_ timeline: Timeline, title: String? = nil) {
        self.init(title: title ?? timeline.name, audio: timeline.name.contains(".") ? timeline.name : "audio.wav")
    }

    /// Returns the recording's own title, else `title`.
    func title(of timeline: Timeline) -> String {
        let own = oneLine(timeline.title ?? "")
        return own.isEmpty ? title : own
    }
}
