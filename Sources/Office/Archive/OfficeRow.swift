import Core
import FoundationEssentials

/// A row in a query's result, in either database. Columns are numbered from 0.
protocol OfficeRow {
    /// Returns 0 for NULL.
    func integer(_ column: Int32) -> Int
    /// Returns 0 for NULL.
    func real(_ column: Int32) -> Double
    /// Returns an empty text for NULL.
    func text(_ column: Int32) -> String
    func optionalText(_ column: Int32) -> String?
    func position(_ column: Int32) -> SamplePosition
}

extension Recorder {
    /// SQL that selects the columns that `init(_:from:)` reads. A condition may follow.
    static let selection =
        "SELECT recorder.id, recorder.name, recorder.folder, recorder.key, recorder.machine FROM recorder"

    /// Reads a recorder from a row.
    ///
    /// - Parameter first: the column of the ID; name, folder, key and machine follow.
    init(_ row: some OfficeRow, from first: Int32 = 0) {
        self.init(
            id: row.integer(first), name: row.text(first + 1), folder: row.text(first + 2),
            key: row.optionalText(first + 3), machine: row.optionalText(first + 4))
    }
}

extension OfficeRecording {
    /// SQL that selects the columns that `init(_:)` reads. A condition may follow.
    static let selection = """
        SELECT recording.id, recording.number, recording.started_at, recording.clock, recording.length_samples,
            recording.title, recording.people, copy.place, copy.audio,
            (SELECT count(*) FROM reading WHERE reading.recording = recording.id),
            recorder.id, recorder.name, recorder.folder, recorder.key, recorder.machine
        FROM recording JOIN recorder ON recorder.id = recording.recorder
        LEFT JOIN copy ON copy.id = (
            SELECT id FROM copy AS latest WHERE latest.recording = recording.id
            ORDER BY \(GatheredCopy.preferredOrder) LIMIT 1)
        """

    init(_ row: some OfficeRow) {
        self.init(
            id: row.integer(0), recorder: Recorder(row, from: 10), number: row.integer(1), startedAt: row.real(2),
            clock: RecordingSummary.Clock(rawValue: row.text(3)) ?? .unverified, length: row.position(4),
            title: row.text(5), people: distinctPeople(row.text(6)), copyFolder: row.text(7),
            audioName: row.text(8), transcriptCount: row.integer(9))
    }
}

extension OfficeTranscript {
    /// SQL that selects the columns that `init(_:)` reads, for all transcripts of recording `$1`, the shown one first.
    static let selection = """
        SELECT id, engine, person, made_at, digest FROM reading WHERE recording = $1 ORDER BY \(preferredOrder)
        """
    /// SQL that sorts the shown transcript first.
    static let preferredOrder = "struck DESC, person IS NOT NULL DESC, made_at DESC, id DESC"

    init(_ row: some OfficeRow) {
        self.init(
            id: row.integer(0), engine: row.text(1), person: row.optionalText(2), madeAt: row.real(3),
            digest: row.text(4))
    }
}

extension OfficeHit {
    /// Reads a hit from a row whose columns are the recording's ID, its recorder's folder and its start; the line's
    /// segment, start, end, speaker label, speaker name and text; and the excerpt.
    init(_ row: some OfficeRow) {
        let line = SpokenLine(
            segment: row.integer(3), range: SampleRange(row.position(4), row.position(5)), speaker: row.text(6),
            name: row.text(7), text: row.text(8))
        self.init(
            recording: row.integer(0), recorder: row.text(1), startedAt: row.real(2), line: line, marked: row.text(9))
    }
}

extension HistoryLine {
    init?(column: String) {
        guard let entry = try? JSONDecoder().decode(HistoryEntry.self, from: Data(column.utf8)) else { return nil }
        self.init(text: column, entry: entry)
    }
}

/// Removes repeated names from a list with the separator `; `, because a speaker is often also a participant.
func distinctPeople(_ people: String) -> String {
    var distinct: [Substring] = []
    var names: Set<[String]> = []
    for item in people.split(separator: ";") {
        let name = OfficeQuery.tokens(String(item))
        if !name.isEmpty, names.contains(name) { continue }
        distinct.append(item)
        names.insert(name)
        names.formUnion(item.split(separator: ",").map { OfficeQuery.tokens(String($0)) })
    }
    return distinct.joined(separator: ";")
}
