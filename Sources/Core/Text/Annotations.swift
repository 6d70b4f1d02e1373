/// What a person added to a transcript, except for corrected words. Arrays are in chronological order.
package struct Annotations: Hashable, Sendable, Codable {
    package var title = ""
    /// Who speaks, as free text.
    package var people = ""
    package var place = ""
    package var note = ""
    /// What the people have consented to, as free text.
    package var consent = ""
    package var notes: [Bookmark] = []
    /// All bookmarks, which replace the ones that were set while recording; nil keeps those.
    package var marks: [Bookmark]?
    /// The speakers' names by label (`A`, `B`, ...); nil if there are no names.
    package var speakers: [String: String]?
    /// The turns as edited by a person, which replace the identified ones; nil keeps those.
    package var turns: Speakers?
    package var quotations: [Quotation] = []

    package init() {}

    package var isEmpty: Bool { self == Annotations() }
}

/// A quotation from a recording.
package struct Quotation: Hashable, Sendable, Codable {
    package var range: SampleRange
    package var text: String
    /// The tag, such as `problem` or `idea`; may be empty.
    package var word: String
    /// The color on the page; may be empty.
    package var colour: String

    package init(_ range: SampleRange, text: String, word: String = "", colour: String = "") {
        self.range = range
        self.text = text
        self.word = word
        self.colour = colour
    }
}
