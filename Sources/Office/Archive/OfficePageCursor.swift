/// The position of a page in the list of recordings, given by the ID of an adjacent recording.
///
/// With `OFFSET`, the database would read all recordings on the previous pages, and each new recording would shift the
/// pages.
package enum OfficePageCursor: Hashable, Sendable {
    /// The page begins with the latest recording.
    case latest
    /// The page begins with the latest recording that started before the one with this ID.
    case earlier(Int)
    /// The page ends with the earliest recording that started after the one with this ID.
    case later(Int)

    /// The ID of the recording next to the page; nil for the latest page.
    var adjacentID: Int? {
        switch self {
        case .latest: nil
        case .earlier(let id), .later(let id): id
        }
    }

    /// Returns SQL for the page, valid in both databases; the latest recording comes first.
    ///
    /// - Parameters:
    ///   - condition: SQL that is true if a recording is in the list.
    ///   - limit: the placeholder for the maximum number of recordings, such as `$6`.
    ///   - adjacent: the placeholder for `adjacentID`; unused if `adjacentID` is nil.
    func query(_ condition: String, limit: String, adjacent: String) -> String {
        let (comparison, direction) = if case .later = self { (">", "ASC") } else { ("<", "DESC") }
        let pageCondition = """
            AND (recording.started_at, recording.id)
                \(comparison) ((SELECT adjacent.started_at FROM recording AS adjacent WHERE adjacent.id = \(adjacent)), \(adjacent))
            """
        // The other columns are read only for the recordings on the page.
        return """
            WITH part AS MATERIALIZED (
                SELECT recording.id FROM recording WHERE \(condition) \(adjacentID == nil ? "" : pageCondition)
                ORDER BY recording.started_at \(direction), recording.id \(direction) LIMIT \(limit))
            \(OfficeRecording.selection) WHERE recording.id IN (SELECT part.id FROM part)
            ORDER BY recording.started_at DESC, recording.id DESC
            """
    }
}
