/// What happens while recording and transcribing, in the order it happens.
package enum Event: Hashable, Sendable {
    /// What the recorder is doing; the raw values stand in JSON.
    package enum State: String, Sendable, Codable { case idle, recording, paused, stopping, faulted }
    /// How far a copy has come; the raw values stand in JSON.
    package enum ExportState: String, Sendable, Codable { case started, finished, failed, refused }

    case state(State)
    /// Level of the last stretch of audio, in dBFS (0 is full scale).
    case level(rms: Double, peak: Double)
    /// Volatile: replaces the earlier partial of that segment.
    case partial(recording: Int, segment: Int, range: SampleRange, text: String)
    /// Exactly once a segment; it never changes afterwards.
    case final(recording: Int, segment: Segment)
    case gap(recording: Int, gap: Gap)
    case mark(recording: Int, mark: Bookmark)
    /// A recognizer session was cut while speech went on.
    case rotation(recording: Int, at: SamplePosition)
    /// Something is wrong, and what a person can do about it.
    case fault(code: String, message: String)
    /// How a copy to a stick or folder goes.
    case export(ExportState, folder: String, message: String)
    /// Whether a laptop is connected to the recorder's own USB port, and has found its drive.
    case laptop(isConnected: Bool)
    /// Sealed recordings were opened by a private key, or what was open was locked: then none.
    case opened(recordings: [Int])
}
