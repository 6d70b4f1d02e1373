import Core

/// A verified copy of one recording, ready to be added to an archive.
package struct GatheredCopy: Sendable {
    var recorder: Recorder
    var number: Int
    /// The SHA-256 of the first line of the history, which is unique to a recording; empty if there is no history.
    var root: String
    /// The start, in seconds since 1970-01-01T00:00:00Z, limited to valid calendar dates.
    var startedAt: Double
    var clock: RecordingSummary.Clock
    var length: SamplePosition
    /// The SHA-256 of the copy's SHA256SUMS, which identifies the copy.
    var digest: String
    /// The copy's folder, relative to the archive's folder of copies.
    var folder: String
    /// The name of the audio file in `folder`; empty if there is none.
    var audioName: String
    /// True if the recorder's signature was verified; nil if there is none, or it could not be checked.
    var isSigned: Bool?
    /// The digest of the sealed file that contained the copy; nil if the copy was not sealed.
    var sealedDigest: String?
    var transcripts: [GatheredTranscript]
    var history: [HistoryLine]
    /// The SHA-256 of the audio samples, which identifies the recording in corrections; empty if the copy lacks it.
    var samplesDigest: String
    /// The number of redactions in the recording when the copy was made. Copies with fewer redactions than another copy
    /// still contain redacted passages.
    var redactionCount: Int

    /// The SQL order in which the copy to show, play and export comes first: of the copies with the most redactions, the
    /// one that was added last.
    static let preferredOrder = "struck DESC, id DESC"

    /// SQL that selects the folders of copies with fewer redactions than another copy or a transcript has. Skips copies
    /// with an unknown number of redactions, -1, which an earlier version added.
    static let outdatedQuery = """
        SELECT copy.place FROM copy JOIN (
            SELECT known.recording, max(known.struck) AS struck FROM (
                SELECT recording, struck FROM copy WHERE struck > 0
                UNION ALL SELECT recording, struck FROM reading WHERE struck > 0) AS known
            GROUP BY known.recording) AS latest ON latest.recording = copy.recording
        WHERE copy.struck >= 0 AND copy.struck < latest.struck ORDER BY copy.place
        """
}

/// A transcript of a recording, by an engine or a person. In the databases, its table is `reading`.
package struct GatheredTranscript: Sendable {
    /// The SHA-256 of the transcript's source, which identifies the transcript.
    var digest: String
    let timeline: Timeline
    /// The person who corrected the transcript; empty if unknown, nil for an engine's transcript.
    var person: String?
    /// When the transcript was made, in seconds since 1970-01-01T00:00:00Z; 0 if unknown.
    var madeAt: Double
    /// The timeline as JSON; nil before `encode()`.
    private var encoded: String?

    /// Clamps `madeAt` to valid calendar dates.
    init(digest: String, timeline: Timeline, person: String?, madeAt: Double) {
        self.digest = digest
        self.timeline = timeline
        self.person = person
        self.madeAt = madeAt.asWallTime
    }

    /// Encodes the timeline now, so that `column` is fast on the thread that uses the archive.
    mutating func encode() throws(DeviceError) { encoded = try timeline.column }

    /// The timeline as the database stores it.
    var column: String {
        get throws(DeviceError) { if let encoded { encoded } else { try timeline.column } }
    }

    var redactionCount: Int { timeline.gaps.redacted.count }
}

extension Timeline {
    /// The names of participants and speakers, separated by `; `, for the filter by person.
    var people: String {
        let names = (annotations?.speakers ?? [:]).sorted { $0.key < $1.key }.map(\.value)
        return ([annotations?.people ?? ""] + names).filter { !$0.isEmpty }.joined(separator: "; ")
    }

    /// The searchable lines, sorted by time: one for each segment with words and each bookmark with text.
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
