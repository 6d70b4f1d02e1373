import Core

/// A copy of one recording that was proved to be whole, as an archive takes it.
package struct GatheredCopy: Sendable {
    /// Which recorder it comes from.
    var recorder: Recorder
    /// The recording's number there.
    var number: Int
    /// SHA-256 of the first line of its history, which no other recording has; empty where nothing was told of that.
    var root: String
    /// When it began, in seconds since 1970-01-01T00:00:00Z.
    var startedAt: Double
    /// Whether that can be believed.
    var clock: RecordingSummary.Clock
    /// How much sound there is.
    var length: SamplePosition
    /// SHA-256 of its SHA256SUMS, by which it is known again.
    var digest: String
    /// Its folder, relative to the archive's files.
    var place: String
    /// The name of the sound in that; empty where it has none.
    var audio: String
    /// Whether the recorder's signature was found to fit; nil where there is none, or nobody could check it.
    var isSigned: Bool?
    /// The digest of the sealed file that it was in; nil where it was not sealed.
    var sealed: String?
    /// Its text, and what people have put right since.
    var readings: [GatheredReading]
    /// What was done to the recording.
    var history: [HistoryLine]
    /// SHA-256 of its samples, by which corrections name it; empty where the copy does not tell.
    var sound: String
    /// How many stretches were struck from the recording when it was made: a copy from before has what was struck.
    var struck: Int

    /// - Parameter startedAt: in seconds since 1970-01-01T00:00:00Z; moved into the years that a date can have.
    init(
        recorder: Recorder, number: Int, root: String, startedAt: Double, clock: RecordingSummary.Clock,
        length: SamplePosition, digest: String, place: String, audio: String, isSigned: Bool?, sealed: String?,
        readings: [GatheredReading], history: [HistoryLine], sound: String, struck: Int
    ) {
        self.recorder = recorder
        self.number = number
        self.root = root
        self.startedAt = startedAt.asWallTime
        self.clock = clock
        self.length = length
        self.digest = digest
        self.place = place
        self.audio = audio
        self.isSigned = isSigned
        self.sealed = sealed
        self.readings = readings
        self.history = history
        self.sound = sound
        self.struck = struck
    }

    /// Of the copies of a recording, the one that is shown, played and given away comes first: none that has what was struck, and of the
    /// others the latest that came.
    static let preference = "struck DESC, id DESC"

    /// Asks either database for the folders of copies that have what was struck later, as other copies or texts tell. What an earlier
    /// version took has -1 where nothing tells how much was struck from it.
    static let outdated = """
        SELECT copy.place FROM copy JOIN (
            SELECT told.recording, max(told.struck) AS struck FROM (
                SELECT recording, struck FROM copy WHERE struck > 0
                UNION ALL SELECT recording, struck FROM reading WHERE struck > 0) AS told
            GROUP BY told.recording) AS latest ON latest.recording = copy.recording
        WHERE copy.struck >= 0 AND copy.struck < latest.struck ORDER BY copy.place
        """
}

/// One text of a recording: an engine's, or a person's.
package struct GatheredReading: Sendable {
    /// SHA-256 of the file that it was read from, by which it is known again.
    var digest: String
    /// The whole text.
    var timeline: Timeline { didSet { written = nil } }
    /// Who has put it right; empty where nobody said who, nil where an engine has written it.
    var person: String?
    /// When it was written, in seconds since 1970-01-01T00:00:00Z; 0 where that is not known.
    var madeAt: Double
    /// What `prepare` has made.
    private var written: String?

    /// - Parameter madeAt: in seconds since 1970-01-01T00:00:00Z; moved into the years that a date can have.
    init(digest: String, timeline: Timeline, person: String?, madeAt: Double) {
        self.digest = digest
        self.timeline = timeline
        self.person = person
        self.madeAt = madeAt.asWallTime
    }

    /// Makes what a column keeps of the text, on whichever thread has time for that.
    mutating func prepare() throws(DeviceError) { written = try timeline.column }

    /// The text as a column keeps it.
    var column: String {
        get throws(DeviceError) { if let written { written } else { try timeline.column } }
    }

    /// How many stretches were struck from the recording when it was written: a text from before has what was struck.
    var struck: Int { timeline.gaps.count { $0.cause == .struck } }

    /// The people that it names: those who take part, and those who speak.
    var people: String {
        let added = timeline.annotations
        let names = (added?.speakers ?? [:]).sorted { $0.key < $1.key }.map(\.value)
        return ([added?.people ?? ""] + names).filter { !$0.isEmpty }.joined(separator: "; ")
    }

    /// What is looked for: a line for each segment with words, and for each bookmark with a text, in the order of time.
    var lines: [SpokenLine] {
        let said = timeline.segments.filter { !$0.words.isEmpty }.map { segment in
            let speaker = timeline.speaker(of: segment)
            return SpokenLine(
                segment: segment.id, range: segment.range, speaker: speaker.map(Speakers.label) ?? "",
                name: speaker.map { timeline.name(ofSpeaker: $0) } ?? "", text: segment.text)
        }
        let marks = timeline.marks.filter { !$0.text.isEmpty }.map {
            SpokenLine(segment: 0, range: SampleRange($0.position, $0.position), speaker: "", name: "", text: $0.text)
        }
        return (said + marks).sorted { ($0.range.start, $0.segment) < ($1.range.start, $1.segment) }
    }
}

/// A piece of a text that can be found.
package struct SpokenLine: Hashable, Sendable {
    /// The segment's number; 0 for a bookmark.
    package var segment: Int
    /// Where in the recording.
    package var range: SampleRange
    /// The label of who says it; empty where that is not known.
    package var speaker: String
    /// What that person is called.
    package var name: String
    /// The words.
    package var text: String
}
