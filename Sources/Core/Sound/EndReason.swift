/// Why an utterance or its segment ended.
package enum EndReason: String, Sendable, Codable, CaseIterable {
    /// The speaker paused.
    case silence
    /// Speech continued, but the utterance was cut at a quiet spot or at its maximum length.
    case rotation
    /// The recording or the file ended.
    case stop
    /// Audio is missing after the segment (overrun, unplugged microphone).
    case gap
    /// The recognizer failed repeatedly on this utterance; the audio is kept without text.
    case error
}
