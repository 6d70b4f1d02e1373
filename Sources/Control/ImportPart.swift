/// A part of a file that is to be imported, since a request is short.
package struct ImportPart: Hashable, Sendable, Codable {
    /// Tells the parts of one file from those of another.
    package var token: String
    /// The file's name.
    package var name: String
    /// Of its text; the parts come in order.
    package var text: String
    /// Whether it is the last one: then the file is taken.
    package var isLast: Bool
    /// Who has corrected it, where the file does not say so.
    package var person: String
    /// What the files beside it say of the recording; nil where they do not.
    package var neighbour: String?

    /// Bytes of text that a part has at most: as JSON, they may become six times as many.
    package static let longest = 8_192

    package init(token: String, name: String, text: String, isLast: Bool, person: String, neighbour: String?) {
        self.token = token
        self.name = name
        self.text = text
        self.isLast = isLast
        self.person = person
        self.neighbour = neighbour
    }
}
