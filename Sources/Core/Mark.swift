/// A place that the user marked while recording.
package struct Mark: Hashable, Sendable, Codable {
    package var position: SamplePosition
    package var text: String

    package init(_ position: SamplePosition, text: String = "") {
        self.position = position
        self.text = text
    }
}
