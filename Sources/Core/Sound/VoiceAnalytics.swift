/// Acoustic measurements of a voice in one or more segments. Values are clamped to a plausible range.
package struct VoiceAnalytics: Hashable, Sendable, Codable {
    /// The median pitch of a segment's voiced frames, in Hz; for several segments, the mean of their medians.
    package let pitch: Double
    /// The mean relative change of the pitch period between successive voiced frames: 0 for a steady voice.
    package let jitter: Double
    /// The mean relative change of the peak amplitude between successive voiced frames: 0 for a steady voice.
    package let shimmer: Double
    /// The fraction of frames that are voiced, 0 to 1.
    package let voicing: Double
    /// How far the pitch of the last 0.2 s of voiced sound is below the median, in semitones; nil if unknown.
    package let finalLowering: Double?

    /// Creates measurements. Values are clamped; NaN becomes 0, or nil for `finalLowering`.
    package init(pitch: Double, jitter: Double, shimmer: Double, voicing: Double, finalLowering: Double? = nil) {
        self.pitch = pitch.within(0...Double(SamplePosition.rate / 2))
        self.jitter = jitter.within(0...10)
        self.shimmer = shimmer.within(0...10)
        self.voicing = voicing.asShare
        self.finalLowering = finalLowering.flatMap { $0.isNaN ? nil : $0.within(-120...120) }
    }

    private enum CodingKeys: CodingKey { case pitch, jitter, shimmer, voicing, finalLowering }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let number = { (key: CodingKeys) in try container.decode(Double.self, forKey: key) }
        self.init(
            pitch: try number(.pitch), jitter: try number(.jitter), shimmer: try number(.shimmer),
            voicing: try number(.voicing),
            finalLowering: try container.decodeIfPresent(Double.self, forKey: .finalLowering))
    }

    /// Computes the mean over segments, weighted by length, without `finalLowering`. Returns nil if no segment has
    /// measurements.
    package init?(of segments: [Segment]) {
        let voiced = segments.compactMap { segment in segment.voice.map { ($0, segment.range.seconds) } }
        let seconds = voiced.reduce(0) { $0 + $1.1 }
        guard seconds > 0 else { return nil }
        func mean(_ value: (VoiceAnalytics) -> Double) -> Double {
            voiced.reduce(0) { $0 + value($1.0) * $1.1 } / seconds
        }
        self.init(
            pitch: mean(\.pitch), jitter: mean(\.jitter), shimmer: mean(\.shimmer), voicing: mean(\.voicing))
    }
}
