/// How a voice sounded in one segment, or in several. What no voice can be is moved to what one can.
package struct VoiceAnalytics: Hashable, Sendable, Codable {
    /// The middle pitch of the voiced frames, in Hz.
    package let pitch: Double

    /// How much the period changes from one voiced frame to the next, over the period: 0 for a steady voice.
    package let jitter: Double

    /// How much the peak changes from one voiced frame to the next, over the peak: 0 for a steady voice.
    package let shimmer: Double

    /// The share of frames that are voiced, 0 to 1.
    package let voicing: Double

    /// By how much the last 0.2 s that are voiced lie below the middle pitch, in semitones; nil where it is not told.
    package let finalLowering: Double?

    /// - Parameters: as the properties of the same names; each is moved into what a voice can be, and what is not a
    ///   number becomes 0.
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
