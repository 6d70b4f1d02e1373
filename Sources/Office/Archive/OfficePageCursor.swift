/// The position of a page in the list of recordings, given by the ID of the recording next to it.
///
/// With offsets, the database would have to count all earlier recordings, and each new recording would shift the pages.
package enum OfficePageCursor: Hashable, Sendable {
    /// The page begins with the latest recording.
    case latest
    /// The page begins with the recording before the one with this ID.
    case earlier(Int)
    /// The page ends with the recording after the one with this ID.
    case later(Int)

    /// The ID of the recording next to the page; nil for the latest page.
    var edge: Int? {
        switch self {
        case .latest: nil
        case .earlier(let id), .later(let id): id
        }
    }

    /// Returns the query for the page, valid in both databases; the latest recording comes first.
    ///
    /// - Parameters:
    ///   - condition: SQL that is true if a recording is in the list.
    ///   - limit: the name of the parameter for the number of recordings.
    ///   - edge: the name of the parameter for `edge`, which is used unless `edge` is nil.
    func statement(_ condition: String, limit: String, edge: String) -> String {
        let (comparison, direction) = if case .later = self { (">", "ASC") } else { ("<", "DESC") }
        let beyond = """
            AND (recording.started_at, recording.id)
                \(comparison) ((SELECT edge.started_at FROM recording AS edge WHERE edge.id = \(edge)), \(edge))
            """
        // The other columns are read only for the recordings on the page.
        return """
            WITH part AS MATERIALIZED (
                SELECT recording.id FROM recording WHERE \(condition) \(self.edge == nil ? "" : beyond)
                ORDER BY recording.started_at \(direction), recording.id \(direction) LIMIT \(limit))
            \(OfficeRecording.selection) WHERE recording.id IN (SELECT part.id FROM part)
            ORDER BY recording.started_at DESC, recording.id DESC
            """
    }
}
