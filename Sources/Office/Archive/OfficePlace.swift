/// Where a part of a long list begins, by the number of a recording that is in it no more; there is nothing beside one that is not in
/// the archive. Numbers of places would have every recording before it counted, and shift with each one that comes.
package enum OfficePlace: Hashable, Sendable {
    /// With the latest one.
    case latest
    /// With the next earlier one.
    case earlier(Int)
    /// So that it ends with the next later one.
    case later(Int)

    /// The recording beyond which the part lies; nil for the latest.
    var edge: Int? {
        switch self {
        case .latest: nil
        case .earlier(let id), .later(let id): id
        }
    }

    /// What asks either database for the part: the latest first, whichever end it is counted from.
    ///
    /// - Parameters:
    ///   - condition: what a filter leaves of the list.
    ///   - limit: the place of the most recordings in the statement.
    ///   - edge: the place of `edge`, if it is not nil.
    func statement(_ condition: String, limit: String, edge: String) -> String {
        let (comparison, direction) = if case .later = self { (">", "ASC") } else { ("<", "DESC") }
        let beyond = """
            AND (recording.started_at, recording.id)
                \(comparison) ((SELECT edge.started_at FROM recording AS edge WHERE edge.id = \(edge)), \(edge))
            """
        // The rest is looked up for these alone.
        return """
            WITH part AS MATERIALIZED (
                SELECT recording.id FROM recording WHERE \(condition) \(self.edge == nil ? "" : beyond)
                ORDER BY recording.started_at \(direction), recording.id \(direction) LIMIT \(limit))
            \(OfficeRecording.selection) WHERE recording.id IN (SELECT part.id FROM part)
            ORDER BY recording.started_at DESC, recording.id DESC
            """
    }
}
