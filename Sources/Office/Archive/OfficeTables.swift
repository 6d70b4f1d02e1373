import Core

/// A value that either database can bind to a query's parameter.
protocol OfficeValue {
    static func integer(_ number: Int) -> Self
    static func text(_ text: String) -> Self
    static func optional(_ number: Double?) -> Self
    static func optional(_ text: String?) -> Self
}

/// An archive in a database. The queries below work in both SQLite and PostgreSQL.
protocol OfficeTables: OfficeArchive {
    associatedtype DatabaseValue: OfficeValue
    associatedtype DatabaseRow: OfficeRow

    /// SQL that follows an ID, and is true if the ID is in the list in `$1`.
    static var isInList: String { get }

    /// SQL that is true if a recording matches the filter in `$1` to `$4` of `values(of:)`.
    static var matchCondition: String { get }

    /// SQL that is true if the filter has no speaker in `$5`.
    static var noSpeakerCondition: String { get }

    /// SQL that is true if the filter's speaker said a line, or if the filter has no speaker.
    static var speakerCondition: String { get }

    /// Returns a list of IDs as one value; NULL for nil.
    static func list(_ ids: [Int]?) -> DatabaseValue

    /// Runs a query with the values `$1`, `$2` and so on, and returns the result of `read` for each row.
    func query<Element>(
        _ sql: String, _ values: [DatabaseValue], read: (DatabaseRow) -> Element
    ) throws(DeviceError) -> [Element]
}

extension OfficeTables {
    /// The maximum number of lines that a search ranks. If more lines match, it returns the lines that were added last.
    static var maximumRanked: Int { 2_000 }

    /// SQL that is true if a recording matches the whole filter, including the speaker.
    private static var listCondition: String {
        """
        \(matchCondition) AND (\(noSpeakerCondition) OR EXISTS (
            SELECT 1 FROM line WHERE line.recording = recording.id AND \(speakerCondition)))
        """
    }

    /// Returns the values `$1` to `$5` of a filter.
    func values(of filter: OfficeFilter) throws(DeviceError) -> [DatabaseValue] {
        var ids: [Int]?
        if let recorder = filter.recorder { ids = try recorders().matching(recorder, in: name) }
        return [
            Self.list(ids), .optional(filter.since), .optional(filter.until),
            .optional(filter.person?.lowercased()), .optional(filter.speaker?.lowercased()),
        ]
    }

    func recorders() throws(DeviceError) -> [Recorder] {
        try query(Recorder.selection + " ORDER BY recorder.id", []) { Recorder($0) }
    }

    /// Returns the recorder with this identity. Adds the recorder, or its key and machine, if they are new. Must be
    /// called in a transaction.
    func addRecorder(_ identity: RecorderIdentity) throws(DeviceError) -> Recorder {
        let all = try recorders()
        if let existing = all.first(matching: identity) {
            var recorder = existing
            recorder.key = existing.key ?? identity.key
            recorder.machine = existing.machine ?? identity.machine
            if recorder != existing {
                _ = try query(
                    "UPDATE recorder SET key = $1, machine = $2 WHERE id = $3",
                    [.optional(recorder.key), .optional(recorder.machine), .integer(recorder.id)]
                ) { _ in 0 }
            }
            return recorder
        }
        let folder = identity.folder(excluding: Set(all.map(\.folder)))
        let id = try query(
            "INSERT INTO recorder (name, folder, key, machine) VALUES ($1, $2, $3, $4) RETURNING id",
            [.text(identity.name), .text(folder), .optional(identity.key), .optional(identity.machine)]
        ) { $0.integer(0) }.first
        return Recorder(
            id: id ?? 0, name: identity.name, folder: folder, key: identity.key, machine: identity.machine)
    }

    private func recordings(
        where condition: String, _ values: [DatabaseValue]
    ) throws(DeviceError) -> [OfficeRecording] {
        try query(OfficeRecording.selection + " WHERE \(condition)", values) { OfficeRecording($0) }
    }

    func recordings(_ filter: OfficeFilter) throws(DeviceError) -> [OfficeRecording] {
        try recordings(
            where: "\(Self.listCondition) ORDER BY recording.started_at, recording.id", values(of: filter))
    }

    func recordings(
        _ filter: OfficeFilter, from cursor: OfficePageCursor, limit: Int
    ) throws(DeviceError) -> [OfficeRecording] {
        var values = try values(of: filter) + [.integer(limit)]
        if let adjacentID = cursor.adjacentID { values.append(.integer(adjacentID)) }
        return try query(cursor.query(Self.listCondition, limit: "$6", adjacent: "$7"), values) { OfficeRecording($0) }
    }

    func count(_ filter: OfficeFilter) throws(DeviceError) -> Int {
        try query("SELECT count(*) FROM recording WHERE \(Self.listCondition)", values(of: filter)) { $0.integer(0) }
            .first ?? 0
    }

    func recording(_ id: Int) throws(DeviceError) -> OfficeRecording? {
        try recordings(where: "recording.id = $1", [.integer(id)]).first
    }

    func recording(ofCopy digest: String) throws(DeviceError) -> OfficeRecording? {
        try recordings(
            where: "recording.id = (SELECT recording FROM copy WHERE digest = $1)", [.text(digest)]
        ).first
    }

    func recording(withSamples digest: String, number: Int) throws(DeviceError) -> OfficeRecording? {
        guard !digest.isEmpty else { return nil }
        return try recordings(
            where: """
                recording.id IN (SELECT recording FROM copy WHERE sound = $1 AND sound <> '') AND recording.number = $2
                ORDER BY recording.id
                """, [.text(digest), .integer(number)]
        ).first
    }

    func recorder(ofRoot root: String) throws(DeviceError) -> Recorder? {
        guard !root.isEmpty else { return nil }
        return try query(
            Recorder.selection
                + " JOIN recording ON recording.recorder = recorder.id WHERE recording.root = $1 LIMIT 1",
            [.text(root)]
        ) { Recorder($0) }.first
    }

    func copyDigest(ofSealed digest: String) throws(DeviceError) -> String? {
        try query("SELECT digest FROM copy WHERE sealed = $1", [.text(digest)]) { $0.text(0) }.first
    }

    func setSealedDigest(_ digest: String, of copy: String) throws(DeviceError) {
        _ = try query("UPDATE copy SET sealed = $1 WHERE digest = $2", [.text(digest), .text(copy)]) { _ in 0 }
    }

    func copies(of recording: Int) throws(DeviceError) -> [String] {
        try query("SELECT digest FROM copy WHERE recording = $1 ORDER BY id", [.integer(recording)]) { $0.text(0) }
    }

    func outdatedFolders() throws(DeviceError) -> [String] {
        try query(GatheredCopy.outdatedQuery, []) { $0.text(0) }
    }

    func samplesDigest(of recording: Int) throws(DeviceError) -> String? {
        try query(
            "SELECT sound FROM copy WHERE recording = $1 AND sound <> '' ORDER BY \(GatheredCopy.preferredOrder) LIMIT 1",
            [.integer(recording)]
        ) { $0.text(0) }.first
    }

    func transcripts(of recording: Int) throws(DeviceError) -> [OfficeTranscript] {
        try query(OfficeTranscript.selection, [.integer(recording)]) { OfficeTranscript($0) }
    }

    func timeline(ofTranscript id: Int) throws(DeviceError) -> Timeline? {
        let columns = try query("SELECT timeline FROM reading WHERE id = $1", [.integer(id)]) { $0.text(0) }
        guard let column = columns.first else { return nil }
        guard let timeline = Timeline(column: column) else {
            throw DeviceError(
                .damaged, "SELECT", on: name, "transcript \(id) is damaged",
                remedy: "restore a backup, or gather the copies into a new archive")
        }
        return timeline
    }

    func beginnings(of recordings: [Int]) throws(DeviceError) -> [Int: String] {
        if recordings.isEmpty { return [:] }
        // A recording's lines are inserted in chronological order, so the first lines have the lowest IDs. Meanwhile,
        // other connections may insert lines with IDs between them. `+ 0` keeps PostgreSQL from reading the whole table
        // by ID.
        let lines = try query(
            """
            WITH opening AS MATERIALIZED (
                SELECT recording.id, (
                    SELECT max(id) FROM (
                        SELECT line.id FROM line WHERE line.recording = recording.id ORDER BY line.id + 0 LIMIT 6
                    ) AS first) AS last
                FROM recording WHERE recording.id \(Self.isInList))
            SELECT line.recording, line.text
            FROM opening JOIN line ON line.recording = opening.id AND line.id <= opening.last
            WHERE line.segment <> 0 ORDER BY line.id
            """, [Self.list(recordings)]
        ) { (recording: $0.integer(0), text: $0.text(1)) }
        return Dictionary(grouping: lines) { $0.recording }.mapValues { lines in
            lines.map { $0.text }.joined(separator: " ")
        }
    }

    func history(of recording: Int) throws(DeviceError) -> [HistoryLine] {
        try query("SELECT line FROM history WHERE recording = $1 ORDER BY number, line", [.integer(recording)]) {
            $0.text(0)
        }.compactMap(HistoryLine.init(column:))
    }
}
