import Archive
import Core

// The list of recordings, and what a filter leaves of it.
extension OfficeFolder {
    /// What a filter leaves of recordings; its values are those of `values(of:)`, from ?10 on.
    static let isLeft = """
        (?10 IS NULL OR recording.recorder IN (SELECT value FROM json_each(?10)))
            AND (?11 IS NULL OR recording.started_at >= ?11) AND (?12 IS NULL OR recording.started_at < ?12)
            AND (?13 IS NULL OR instr(recording.people_key, ?13) > 0)
        """

    static let isSaid = "(?14 IS NULL OR line.speaker = upper(?14) OR line.name_key = ?14)"

    /// What a filter leaves of the list: recordings in which somebody says something.
    private static let isListed = """
        \(isLeft) AND (?14 IS NULL OR EXISTS (
            SELECT 1 FROM line WHERE line.recording = recording.id AND \(isSaid)))
        """

    func values(of filter: OfficeFilter) throws(DeviceError) -> [SQLValue] {
        var recorders: String?
        if let meant = filter.recorder { recorders = "\(try self.recorders().meant(by: meant, in: name))" }
        return [
            .optional(recorders), .optional(filter.since), .optional(filter.until),
            .optional(filter.person?.lowercased()), .optional(filter.speaker?.lowercased()),
        ]
    }

    static let unused = [SQLValue](repeating: .null, count: 9)

    package func recordings(_ filter: OfficeFilter) throws(DeviceError) -> [OfficeRecording] {
        try connection.rows(
            OfficeRecording.selection + """
                 WHERE \(Self.isListed)
                ORDER BY recording.started_at, recording.id
                """, Self.unused + values(of: filter), read: OfficeRecording.init)
    }

    package func recordings(
        _ filter: OfficeFilter, from place: OfficePlace, limit: Int
    ) throws(DeviceError) -> [OfficeRecording] {
        var values = Self.unused + (try values(of: filter)) + [.integer(limit)]
        if let edge = place.edge { values.append(.integer(edge)) }
        return try connection.rows(
            place.statement(Self.isListed, limit: "?15", edge: "?16"), values, read: OfficeRecording.init)
    }

    package func count(_ filter: OfficeFilter) throws(DeviceError) -> Int {
        try connection.rows(
            "SELECT count(*) FROM recording WHERE \(Self.isListed)", Self.unused + values(of: filter)
        ) { $0.integer(0) }.first ?? 0
    }
}
