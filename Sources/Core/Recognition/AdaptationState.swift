/// What utterances have taught an engine about microphone, room and speaker, for the next.
///
/// Only the engine knows what it says; everybody else keeps it and hands it on.
package struct AdaptationState: Hashable, Sendable, Codable {
    /// As the engine wrote it, and as it stands on the wire and in the database.
    package var content: JSONValue

    package init(_ content: JSONValue) { self.content = content }

    package init(from decoder: any Decoder) throws { content = try JSONValue(from: decoder) }

    package func encode(to encoder: any Encoder) throws { try content.encode(to: encoder) }
}
