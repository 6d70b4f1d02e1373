/// The punctuation in exports. The archive keeps the recognized text.
package enum Punctuation: String, Sendable, CaseIterable {
    /// The engine's own punctuation, if it writes any.
    case engine
    /// No punctuation: removes the engine's punctuation and capitals.
    case none
    /// The engine's own punctuation. If it writes none: full stops and capitals where pauses and the language model
    /// indicate the end of a sentence.
    case automatic
    /// Replaces the spoken names of punctuation with the punctuation: comma, period, full stop, question mark, new
    /// line, new paragraph.
    case spoken
    /// The engine's own punctuation. If it writes none: `automatic` and `spoken`.
    case both

    var isAutomatic: Bool { self == .automatic || self == .both }
    var isSpoken: Bool { self == .spoken || self == .both }
}
