/// An engine's adaptation to microphone, room and speaker, for the next utterance. Only the engine interprets it.
package struct AdaptationState: Hashable, Sendable, Codable {
    /// As the engine wrote it; the form between processes and in the database.
    package var content: JSONValue

    package init(_ content: JSONValue) { self.content = content }

    package init(from decoder: any Decoder) throws { content = try JSONValue(from: decoder) }

    package func encode(to encoder: any Encoder) throws { try content.encode(to: encoder) }
}
