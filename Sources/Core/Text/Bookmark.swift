/// A position that the user marked.
package struct Bookmark: Hashable, Sendable, Codable {
    package var position: SamplePosition
    /// A note; may be empty.
    package var text: String

    package init(_ position: SamplePosition, text: String = "") {
        self.position = position
        self.text = text
    }
}
