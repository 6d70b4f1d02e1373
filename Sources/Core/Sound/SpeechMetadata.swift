/// The rate and times of speech.
package struct SpeechMetadata: Hashable, Sendable {
    /// Words per minute, from the first word's start to the last one's end in each segment.
    package var speakingRate: Double
    /// The mean pause between words of a segment, in seconds; 0 without pauses.
    package var averagePause: Double
    /// Where the first word starts.
    package var speechStart: SamplePosition
    /// The sum over segments of the time from the first word to the last, in seconds.
    package var speechDuration: Double

    /// Computes it for one segment or a whole recording; nil without words.
    package init?(of segments: [Segment]) {
        let spoken = segments.filter { !$0.words.isEmpty }
        guard let first = spoken.first?.words.first else { return nil }
        let stretches = spoken.compactMap { segment in
            segment.words.last.map { SampleRange(segment.words[0].range.start, $0.range.end) }
        }
        let pauses = spoken.flatMap { segment in
            zip(segment.words, segment.words.dropFirst()).map { $1.range.start - $0.range.end }.filter { $0 > 0 }
        }
        speechStart = first.range.start
        speechDuration = stretches.reduce(0) { $0 + $1.seconds }
        let words = spoken.reduce(0) { $0 + $1.words.count }
        speakingRate = speechDuration > 0 ? 60 * Double(words) / speechDuration : 0
        averagePause =
            pauses.isEmpty
            ? 0 : Double(pauses.reduce(0, +)) / Double(SamplePosition.rate) / Double(pauses.count)
    }
}
