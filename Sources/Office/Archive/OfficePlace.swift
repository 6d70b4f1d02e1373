/// Where a page of the list of recordings begins, by the id of the recording before it.
///
/// Offsets would make the database count all earlier recordings, and would shift with each new one.
package enum OfficePlace: Hashable, Sendable {
    /// Begins with the latest recording.
    case latest
    /// Begins with the recording before this one.
    case earlier(Int)
    /// Ends with the recording after this one.
    case later(Int)

    /// The recording at the edge of the page, which is not on it; nil for the latest page.
    var edge: Int? {
        switch self {
        case .latest: nil
        case .earlier(let id), .later(let id): id
        }
    }

    /// Returns the query for the page, valid in both databases; the latest recording comes first.
    ///
    /// - Parameters:
    ///   - condition: the condition that a recording is in the list.
    ///   - limit: the parameter for the number of recordings.
    ///   - edge: the parameter for `edge`, used unless it is nil.
    func statement(_ condition: String, limit: String, edge: String) -> String {
        let (comparison, direction) = if case .later = self { (">", "ASC") } else { ("<", "DESC") }
        let beyond = """
            AND (recording.started_at, recording.id)
                \(comparison) ((SELECT edge.started_at FROM recording AS edge WHERE edge.id = \(edge)), \(edge))
            """
        // The other columns are read for these recordings only.
        return """
            WITH part AS MATERIALIZED (
                SELECT recording.id FROM recording WHERE \(condition) \(self.edge == nil ? "" : beyond)
                ORDER BY recording.started_at \(direction), recording.id \(direction) LIMIT \(limit))
            \(OfficeRecording.selection) WHERE recording.id IN (SELECT part.id FROM part)
            ORDER BY recording.started_at DESC, recording.id DESC
            """
    }
}
