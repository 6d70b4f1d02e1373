/// A place that the user marked while recording.
package struct Bookmark: Hashable, Sendable, Codable {
    /// Where in the recording it is.
    package var position: SamplePosition
    /// What the user said of it; empty for a plain bookmark.
    package var text: String

    package init(_ position: SamplePosition, text: String = "") {
        self.position = position
        self.text = text
    }
}
