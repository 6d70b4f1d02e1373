/// A position that the user marked.
package struct Bookmark: Hashable, Sendable, Codable {
    /// Its position in the recording.
    package var position: SamplePosition
    /// Its text; may be empty.
    package var text: String

    package init(_ position: SamplePosition, text: String = "") {
        self.position = position
        self.text = text
    }
}
