/// One pass of a recording, without its text.
package struct PassSummary: Hashable, Sendable, Codable {
    package var id: Int
    package var recording: Int
    package var engine: EngineDescription
    /// The decoder's profile: `live`, `final` or `fast`.
    package var profile: String
    package var isComplete: Bool
    /// The last segment's ID; 0 if there is none.
    package var lastSegment: Int
    /// The end of the last segment, where an interrupted pass resumes.
    package var committedUpTo: SamplePosition
    /// The engine's adaptation to microphone, room and speaker after the last segment, if any.
    package var adaptation: AdaptationState?
    /// Nil if an engine made this pass.
    package var correction: Correction?

    private enum CodingKeys: String, CodingKey {
        case id, recording, engine, profile, isComplete, lastSegment, committedUpTo, correction
        // Keeps the former JSON name, since a client may be older than the recorder.
        case adaptation = "channel"
    }

    /// - Parameter profile: `quick`, the name in archives from earlier versions, becomes `fast`.
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
