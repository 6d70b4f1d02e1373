/// A person's additions to a recording besides its words.
package struct Annotations: Hashable, Sendable, Codable {
    /// The recording's title; may be empty.
    package var title = ""
    /// The people who speak, as free text.
    package var people = ""
    /// Where it was recorded.
    package var place = ""
    /// Anything else.
    package var note = ""
    /// What the people have consented to, as free text.
    package var consent = ""
    /// Notes, in chronological order.
    package var notes: [Bookmark] = []
    /// All bookmarks, in chronological order, replacing those set while recording; nil keeps those.
    package var marks: [Bookmark]?
    /// The speakers' names by their labels `A`, `B` ...; nil without names.
    package var speakers: [String: String]?
    /// Who spoke when, replacing what was identified; nil keeps that.
    package var turns: Speakers?
    /// Quotations, in chronological order.
    package var quotations: [Quotation] = []

    package init() {}

    /// Whether it is empty.
    package var isEmpty: Bool { self == Annotations() }
}

/// A quotation from a recording.
package struct Quotation: Hashable, Sendable, Codable {
    /// The range, from its first word to its last.
    package var range: SampleRange
    /// The quoted words.
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
