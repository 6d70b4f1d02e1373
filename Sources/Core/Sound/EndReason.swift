/// Why a segment ended where it did.
package enum EndReason: String, Sendable, Codable, CaseIterable {
    /// The speaker paused.
    case silence
    /// Speech continued; the session was rotated at a quiet place or at the latest moment.
    case rotation
    /// The recording or the file ended.
    case stop
    /// Audio is missing from here on (overrun, unplugged microphone).
    case gap
    /// The recognizer failed on this utterance repeatedly; the audio is kept without text.
    case error
}
