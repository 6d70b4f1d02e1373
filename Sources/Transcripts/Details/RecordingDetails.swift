import Core

/// A recording's details for pages and documents, besides its transcript.
package struct RecordingDetails: Hashable, Sendable {
    /// The title to use if nobody gave the recording one.
    package var title: String
    /// The start in local time, formatted for people; nil if unknown.
    var started: String?
    /// The start as RFC 3339; nil if unknown.
    var startedAt: String?
    var clock: RecordingSummary.Clock?
    /// Nil if the clock was set.
    var powerOn: PowerOn?
    var device: String?
    /// Identifies the recording when the file is imported; nil if unknown.
    package var identity: RecordingIdentity?
    package var audio: String
    /// The relative link to the list of recordings; nil if there is none.
    var index: String?
    /// The waveform's peaks, 0 to 255, for equal parts of the recording; may be empty.
    var peaks: [UInt8]
    /// The minimum pause that `qda` shows, in seconds.
    package var pauseSeconds = 3
    /// Unconfirmed names for the speakers, by label. They come from similar voices in other recordings.
    package var proposals: [String: String] = [:]
    /// The history, oldest entry first.
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

    /// Derives the details from a transcript.
    ///
    /// - Parameter title: If nil, the title is the timeline's name.
    package init(_ timeline: Timeline, title: String? = nil) {
        self.init(title: title ?? timeline.name, audio: timeline.name.contains(".") ? timeline.name : "audio.wav")
    }

    /// Returns the recording's own title or, if it has none, `title`.
    func title(of timeline: Timeline) -> String {
        let own = oneLine(timeline.title ?? "")
        return own.isEmpty ? title : own
    }
}
