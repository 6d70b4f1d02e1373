/// A person's additions to a recording besides its words. Arrays are in chronological order.
package struct Annotations: Hashable, Sendable, Codable {
    package var title = ""
    /// Who speaks, as free text.
    package var people = ""
    package var place = ""
    package var note = ""
    /// What the people have consented to, as free text.
    package var consent = ""
    package var notes: [Bookmark] = []
    /// All bookmarks, replacing those set while recording; nil keeps those.
    package var marks: [Bookmark]?
    /// The speakers' names by their labels `A`, `B` ...; nil without names.
    package var speakers: [String: String]?
    /// Who spoke when, replacing what was identified; nil keeps that.
    package var turns: Speakers?
    package var quotations: [Quotation] = []

    package init() {}

    package var isEmpty: Bool { self == Annotations() }
}

/// A quotation from a recording.
package struct Quotation: Hashable, Sendable, Codable {
    /// The range, from its first word to its last.
    package var range: SampleRange
    package var text: String
    /// Its tag: `problem`, `idea`; may be empty.
    package var word: String
    /// Its color on the page; may be empty.
    package var colour: String

    package init(_ range: SampleRange, text: String, word: String = "", colour: String = "") {
        self.range = range
        self.text = text
        self.word = word
        self.colour = colour
    }
}
