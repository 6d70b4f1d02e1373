/// How a voice sounded in one segment, or in several.
package struct VoiceAnalytics: Hashable, Sendable, Codable {
    /// The middle pitch of the voiced frames, in Hz.
    package var pitch: Double

    /// How much the period changes from one voiced frame to the next, over the period: 0 for a steady voice.
    package var jitter: Double

    /// How much the peak changes from one voiced frame to the next, over the peak: 0 for a steady voice.
    package var shimmer: Double

    /// The share of frames that are voiced, 0 to 1.
    package var voicing: Double

    /// By how much the last 0.2 s that are voiced lie below the middle pitch, in semitones; nil where it is not told.
    package var finalLowering: Double?

    package init(pitch: Double, jitter: Double, shimmer: Double, voicing: Double, finalLowering: Double? = nil) {
        self.pitch = pitch
        self.jitter = jitter
        self.shimmer = shimmer
        self.voicing = voicing
        self.finalLowering = finalLowering
    }

    /// Of a whole recording: each segment by its length; nil where no segment tells.
    package init?(of segments: [Segment]) {
        let told = segments.compactMap { segment in segment.voice.map { ($0, segment.range.seconds) } }
        let seconds = told.reduce(0) { $0 + $1.1 }
        guard seconds > 0 else { return nil }
        func mean(_ value: (VoiceAnalytics) -> Double) -> Double {
            told.reduce(0) { $0 + value($1.0) * $1.1 } / seconds
        }
        self.init(
            pitch: mean(\.pitch), jitter: mean(\.jitter), shimmer: mean(\.shimmer), voicing: mean(\.voicing))
    }
}
