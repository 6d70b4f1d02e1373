/// What is written between the words when a transcript is shown. What is kept stays as it was heard.
package enum Punctuation: String, Sendable, CaseIterable {
    /// Nothing.
    case none
    /// Full stops and capitals, where pauses and the language model tell that a sentence ends.
    case automatic
    /// The marks whose names somebody says: comma, period, question mark, new line, new paragraph.
    case spoken
    case both

    package var isAutomatic: Bool { self == .automatic || self == .both }
    package var isSpoken: Bool { self == .spoken || self == .both }
}
