/// A position that the user marked.
package struct Bookmark: Hashable, Sendable, Codable {
    package var position: SamplePosition
    /// May be empty.
    package var text: String

    package init(_ position: SamplePosition, text: String = "") {
        self.position = position
        self.text = text
    }
}
