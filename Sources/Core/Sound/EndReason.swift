/// Why a segment ended where it did.
package enum EndReason: String, Sendable, Codable, CaseIterable {
    /// The speaker paused.
    case silence
    /// Speech went on; the recognizer's session was rotated at a quiet place or at the latest allowed moment.
    case rotation
    /// The recording or the file ended.
    case stop
    /// Audio is missing from here on (overrun, unplugged microphone).
    case gap
    /// The recognizer failed on this utterance again and again; its audio is kept, its text is not known.
    case error
}
