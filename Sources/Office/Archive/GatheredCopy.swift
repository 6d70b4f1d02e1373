import Core

/// A verified copy of one recording, ready to be added to an archive.
package struct GatheredCopy: Sendable {
    var recorder: Recorder
    /// The recording's number on its recorder.
    var number: Int
    /// SHA-256 of the first line of its history, unique to a recording; empty without a history.
    var root: String
    /// In seconds since 1970-01-01T00:00:00Z, within the years of calendar dates.
    var startedAt: Double
    var clock: RecordingSummary.Clock
    var length: SamplePosition
    /// SHA-256 of its SHA256SUMS, which identifies the copy.
    var digest: String
    /// The copy's folder, relative to the archive's files.
    var place: String
    /// The name of the sound file in `place`; empty without sound.
    var audio: String
    /// Whether the recorder's signature is valid; nil without a signature, or if it could not be checked.
    var isSigned: Bool?
    /// The digest of the sealed file that contained it; nil if it was not sealed.
    var sealed: String?
    var readings: [GatheredReading]
    var history: [HistoryLine]
    /// SHA-256 of its samples, which identifies the recording in corrections; empty if the copy lacks it.
    var sound: String
    /// The number of redactions in the recording when the copy was made. A copy with fewer still contains redacted
    /// passages.
    var struck: Int

    /// Sorts the copy to show, play and export first: the latest with the most redactions.
    static let preference = "struck DESC, id DESC"

    /// Selects the folders of copies that contain passages redacted later, according to other copies or readings. Copies
    /// added by an earlier version have -1 if their number of redactions is unknown.
    static let outdated = """
        SELECT copy.place FROM copy JOIN (
            SELECT told.recording, max(told.struck) AS struck FROM (
                SELECT recording, struck FROM copy WHERE struck > 0
                UNION ALL SELECT recording, struck FROM reading WHERE struck > 0) AS told
            GROUP BY told.recording) AS latest ON latest.recording = copy.recording
        WHERE copy.struck >= 0 AND copy.struck < latest.struck ORDER BY copy.place
        """
}

/// One transcript of a recording, by an engine or by a person.
package struct GatheredReading: Sendable {
    /// SHA-256 of the file it was read from, which identifies the reading.
    var digest: String
    let timeline: Timeline
    /// Who corrected it; empty if unknown, nil for an engine's transcript.
    var person: String?
    /// In seconds since 1970-01-01T00:00:00Z; 0 if unknown.
    var madeAt: Double
    /// The timeline as JSON; set by `prepare`.
    private var written: String?

    /// - Parameter madeAt: in seconds since 1970-01-01T00:00:00Z; clamped to the years of calendar dates.
    init(digest: String, timeline: Timeline, person: String?, madeAt: Double) {
        self.digest = digest
        self.timeline = timeline
        self.person = person
        self.madeAt = madeAt.asWallTime
    }

    /// Encodes the timeline in advance, so that any thread can do it.
    mutating func prepare() throws(DeviceError) { written = try timeline.column }

    /// The timeline as the database stores it.
    var column: String {
        get throws(DeviceError) { if let written { written } else { try timeline.column } }
    }

    /// The number of redactions in the recording when it was written.
    var struck: Int { timeline.gaps.redacted.count }
}

extension Timeline {
    /// The participants and the speakers, for the filter by person.
    var people: String {
        let names = (annotations?.speakers ?? [:]).sorted { $0.key < $1.key }.map(\.value)
        return ([annotations?.people ?? ""] + names).filter { !$0.isEmpty }.joined(separator: "; ")
    }

    /// The searchable lines: one for each segment with words and each bookmark with a text, sorted by time.
    var spokenLines: [SpokenLine] {
        let said = segments.filter { !$0.words.isEmpty }.map { segment in
            let speaker = speaker(of: segment)
            return SpokenLine(
                segment: segment.id, range: segment.range, speaker: speaker.map(Speakers.label) ?? "",
                name: speaker.map { name(ofSpeaker: $0) } ?? "", text: segment.text)
        }
        let marks = marks.filter { !$0.text.isEmpty }.map {
            SpokenLine(segment: 0, range: SampleRange($0.position, $0.position), speaker: "", name: "", text: $0.text)
        }
        return (said + marks).sorted { ($0.range.start, $0.segment) < ($1.range.start, $1.segment) }
    }
}

/// A line of a transcript, as a search returns it.
package struct SpokenLine: Hashable, Sendable {
    /// The segment's number; 0 for a bookmark.
    package var segment: Int
    package var range: SampleRange
    /// The speaker's label, such as `A`; empty if unknown.
    package var speaker: String
    package var name: String
    package var text: String
}
