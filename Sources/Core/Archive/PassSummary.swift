/// One pass (transcription) of a recording, without its text.
package struct PassSummary: Hashable, Sendable, Codable {
    package var id: Int
    package var recording: Int
    package var engine: EngineDescription
    /// The decoder's profile: `live`, `final`, `fast`. Archives of earlier versions have `quick` for `fast`.
    package var profile: String
    /// Whether it covers the whole recording.
    package var isComplete: Bool
    /// 0 before the first.
    package var lastSegment: Int
    /// Where its last segment ends, and an interrupted pass resumes.
    package var committedUpTo: SamplePosition
    /// The engine's adaptation to microphone, room and speaker after the last segment, if any.
    package var adaptation: AdaptationState?
    /// The correction, if a person wrote this pass; nil for an engine's.
    package var correction: Correction?

    private enum CodingKeys: String, CodingKey {
        case id, recording, engine, profile, isComplete, lastSegment, committedUpTo, correction
        // The name in JSON: a client may be older than the recorder.
        case adaptation = "channel"
    }

    /// - Parameter profile: `quick`, the former name of `fast`, counts as that.
    package init(
        id: Int, recording: Int, engine: EngineDescription, profile: String, isComplete: Bool, lastSegment: Int,
        committedUpTo: SamplePosition, adaptation: AdaptationState? = nil, correction: Correction? = nil
    ) {
        self.id = id
        self.recording = recording
        self.engine = engine
        self.profile = profile == "quick" ? "fast" : profile
        self.isComplete = isComplete
        self.lastSegment = lastSegment
        self.committedUpTo = committedUpTo
        self.adaptation = adaptation
        self.correction = correction
    }
}
