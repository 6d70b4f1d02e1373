/// What a person adds to a recording besides its words.
package struct Annotations: Hashable, Sendable, Codable {
    /// What the recording is called; empty where it has no name of its own.
    package var title = ""
    /// Who speaks, as the person wrote it.
    package var people = ""
    /// Where it was recorded.
    package var place = ""
    /// Anything else that is to be known of the recording.
    package var note = ""
    /// What those who speak have agreed to, in words.
    package var consent = ""
    /// Notes at places, in the order of time.
    package var notes: [Bookmark] = []
    /// All bookmarks, in the order of time, in the place of those that were set while recording; nil: these stay.
    package var marks: [Bookmark]?
    /// What the people are called who speak, by their labels `A`, `B` ...; nil where nobody has a name.
    package var speakers: [String: String]?
    /// Quotations that were kept, in the order of time.
    package var quotations: [Quotation] = []

    /// Nothing.
    package init() {}

    /// Whether a person has added nothing.
    package var isEmpty: Bool { self == Annotations() }
}

/// A stretch of a recording that a person keeps.
package struct Quotation: Hashable, Sendable, Codable {
    /// From its first word to its last.
    package var range: SampleRange
    /// What is said there.
    package var text: String
    /// Under which word it is kept: `problem`, `idea`; may be empty.
    package var word: String
    /// Its colour, as the page names it; may be empty.
    package var colour: String

    package init(_ range: SampleRange, text: String, word: String = "", colour: String = "") {
        self.range = range
        self.text = text
        self.word = word
        self.colour = colour
    }
}
