/// What is written between the words when a transcript is shown. What is kept stays as it was heard.
package enum Punctuation: String, Sendable, CaseIterable {
    /// As the engine writes it, which may be nothing.
    case engine
    /// Nothing: of an engine that writes punctuation and capitals, its words without them.
    case none
    /// Full stops and capitals, where pauses and the language model tell that a sentence ends; where an engine writes them, its
    /// own.
    case automatic
    /// The punctuation whose names somebody says: comma, period, question mark, new line, new paragraph.
    case spoken
    /// `automatic` and `spoken`; where an engine writes punctuation, its own.
    case both

    /// Whether sentences end where pauses and the language model say so.
    var isAutomatic: Bool { self == .automatic || self == .both }
    /// Whether spoken names of punctuation become punctuation.
    var isSpoken: Bool { self == .spoken || self == .both }
}
