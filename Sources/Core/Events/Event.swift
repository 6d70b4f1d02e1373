/// An event while recording or transcribing. Listeners receive events in order.
package enum Event: Hashable, Sendable {
    /// The recorder's state. The raw values appear in JSON.
    package enum State: String, Sendable, Codable { case idle, recording, paused, stopping, faulted }
    /// The state of a copy. The raw values appear in JSON.
    package enum ExportState: String, Sendable, Codable { case started, finished, failed, refused }

    case state(State)
    /// The level of the latest audio in dBFS (0 is full scale).
    case level(rms: Double, peak: Double)
    /// The text so far of utterances that are recognized together. Replaces their previous partial text. `segment` is
    /// the ID of their first segment.
    case partial(recording: Int, segment: Int, range: SampleRange, text: String)
    /// A final segment. Sent once; the segment never changes afterwards.
    case final(recording: Int, segment: Segment)
    case gap(recording: Int, gap: Gap)
    case mark(recording: Int, mark: Bookmark)
    /// An utterance was rotated, which means that it was cut during speech.
    case rotation(recording: Int, at: SamplePosition)
    /// A problem. The message includes the remedy, if there is one.
    case fault(code: String, message: String)
    case export(ExportState, folder: String, message: String)
    /// Whether a laptop is connected to the USB device port and has found the recorder's drive.
    case laptop(isConnected: Bool)
    /// The sealed recordings that a private key has decrypted; empty once they are locked again.
    case opened(recordings: [Int])
}
