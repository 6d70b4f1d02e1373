/// The punctuation in exports. The archive keeps the recognized text.
package enum Punctuation: String, Sendable, CaseIterable {
    /// The engine's own, possibly none.
    case engine
    /// None: removes an engine's punctuation and capitals.
    case none
    /// Full stops and capitals where pauses and the language model indicate the end of a sentence; or the engine's own.
    case automatic
    /// Replaces spoken names of punctuation: comma, period, question mark, new line, new paragraph.
    case spoken
    /// `automatic` and `spoken`, or the engine's own punctuation.
    case both

    var isAutomatic: Bool { self == .automatic || self == .both }
    var isSpoken: Bool { self == .spoken || self == .both }
}
