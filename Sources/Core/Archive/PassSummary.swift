/// What the archive knows of one reading of a recording, without its text.
package struct PassSummary: Hashable, Sendable, Codable {
    package var id: Int
    /// The recording's number.
    package var recording: Int
    /// Which engine read it.
    package var engine: EngineDescription

    /// The decoder's profile: `live`, `final`, `fast`. Archives of an earlier version have `quick` for `fast`.
    package var profile: String

    /// Whether it has read the recording to its end.
    package var isComplete: Bool

    /// The number of its last segment, 0 before the first.
    package var lastSegment: Int

    /// Where its last segment ends; a pass that was interrupted goes on here.
    package var committedUpTo: SamplePosition

    /// What the engine has learnt of microphone, room and speaker up to its last segment, where it told.
    package var adaptation: AdaptationState?

    /// Who put what right, where a person has written it; nil for an engine's.
    package var correction: Correction?

    private enum CodingKeys: String, CodingKey {
        case id, recording, engine, profile, isComplete, lastSegment, committedUpTo, correction
        // As it has been told ever since: a client may be older than the recorder.
        case adaptation = "channel"
    }

    package init(
        id: Int, recording: Int, engine: EngineDescription, profile: String, isComplete: Bool, lastSegment: Int,
        committedUpTo: SamplePosition, adaptation: AdaptationState? = nil, correction: Correction? = nil
    ) {
        self.id = id
        self.recording = recording
        self.engine = engine
        self.profile = profile
        self.isComplete = isComplete
        self.lastSegment = lastSegment
        self.committedUpTo = committedUpTo
        self.adaptation = adaptation
        self.correction = correction
    }
}
