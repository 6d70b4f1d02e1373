import Core

/// A verified copy of one recording, ready to be added to an archive.
package struct GatheredCopy: Sendable {
    var recorder: Recorder
    /// The recording's number on its recorder.
    var number: Int
    /// The SHA-256 of the first line of its history, which is unique to a recording; empty if there is no history.
    var root: String
    /// The start, in seconds since 1970-01-01T00:00:00Z, limited to valid calendar dates.
    var startedAt: Double
    var clock: RecordingSummary.Clock
    var length: SamplePosition
    /// The SHA-256 of its SHA256SUMS, which identifies the copy.
    var digest: String
    /// The copy's folder, relative to the archive's folder of copies.
    var place: String
    /// The name of the sound file in `place`; empty if there is none.
    var audio: String
    /// Whether the recorder's signature is valid; nil if there is no signature, or if it could not be checked.
    var isSigned: Bool?
    /// The digest of the sealed file that contained the copy; nil if it was not sealed.
    var sealed: String?
    var readings: [GatheredTranscript]
    var history: [HistoryLine]
    /// The SHA-256 of its samples, which identifies the recording in corrections; empty if the copy lacks it.
    var sound: String
    /// The number of redactions in the recording when the copy was made. Copies with fewer redactions still contain
    /// redacted passages.
    var struck: Int

    /// SQL that sorts the copy to show, play and export first: the latest of the copies with the most redactions.
    static let preference = "struck DESC, id DESC"

    /// SQL that selects the folders of copies that contain passages redacted later, according to other copies or
    /// transcripts. The number of redactions is -1 if it is unknown, for copies added by an earlier version.
    static let outdated = """
        SELECT copy.place FROM copy JOIN (
            SELECT told.recording, max(told.struck) AS struck FROM (
                SELECT recording, struck FROM copy WHERE struck > 0
                UNION ALL SELECT recording, struck FROM reading WHERE struck > 0) AS told
            GROUP BY told.recording) AS latest ON latest.recording = copy.recording
        WHERE copy.struck >= 0 AND copy.struck < latest.struck ORDER BY copy.place
        """
}

/// A transcript of a recording, by an engine or a person. In the databases, its table is `reading`.
package struct GatheredTranscript: Sendable {
    /// The SHA-256 of its source, which identifies the transcript.
    var digest: String
    let timeline: Timeline
    /// The person who corrected it; empty if unknown, nil for an engine's transcript.
    var person: String?
    /// The time, in seconds since 1970-01-01T00:00:00Z; 0 if unknown.
    var madeAt: Double
    /// The timeline as JSON; set by `prepare`.
    private var encoded: String?

    /// - Parameter madeAt: the time, in seconds since 1970-01-01T00:00:00Z; clamped to valid calendar dates.
    init(digest: String, timeline: Timeline, person: String?, madeAt: Double) {
        self.digest = digest
        self.timeline = timeline
        self.person = person
        self.madeAt = madeAt.asWallTime
    }

    /// Encodes the timeline in advance, possibly on another thread.
    mutating func prepare() throws(DeviceError) { encoded = try timeline.column }

    /// The timeline as the database stores it.
    var column: String {
        get throws(DeviceError) { if let encoded { encoded } else { try timeline.column } }
    }

    /// The number of redactions in the recording when the transcript was made.
    var struck: Int { timeline.gaps.redacted.count }
}

extension Timeline {
    /// The names of participants and speakers, for the filter by person.
    var people: String {
        let names = (annotations?.speakers ?? [:]).sorted { $0.key < $1.key }.map(\.value)
        return ([annotations?.people ?? ""] + names).filter { !$0.isEmpty }.joined(separator: "; ")
    }

    /// The searchable lines: one for each segment with words and each bookmark with a text, sorted by time.
    var spokenLines: [SpokenLine] {
        let speech = segments.filter { !$0.words.isEmpty }.map { segment in
            let speaker = speaker(of: segment)
            return SpokenLine(
                segment: segment.id, range: segment.range, speaker: speaker.map(Speakers.label) ?? "",
                name: speaker.map { name(ofSpeaker: $0) } ?? "", text: segment.text)
        }
        let marks = marks.filter { !$0.text.isEmpty }.map {
            SpokenLine(segment: 0, range: SampleRange($0.position, $0.position), speaker: "", name: "", text: $0.text)
        }
        return (speech + marks).sorted { ($0.range.start, $0.segment) < ($1.range.start, $1.segment) }
    }
}

/// A line of a transcript, or a bookmark, that a search can find.
package struct SpokenLine: Hashable, Sendable {
    /// The segment's ID; 0 for a bookmark.
    package var segment: Int
    package var range: SampleRange
    /// The speaker's label, such as `A`; empty if unknown.
    package var speaker: String
    package var name: String
    package var text: String
}
