/// The rate and timing of speech.
package struct SpeechMetadata: Hashable, Sendable {
    /// Words per minute, measured from the start of the first word to the end of the last word in each segment.
    package var speakingRate: Double
    /// The mean pause between words in a segment, in seconds; 0 if there are no pauses.
    package var averagePause: Double
    package var speechStart: SamplePosition
    /// The time from the first to the last word of each segment, added up over all segments, in seconds.
    package var speechDuration: Double

    /// Computes the metadata of one segment or a whole recording; returns nil if there are no words.
    package init?(of segments: [Segment]) {
        let segmentsWithWords = segments.filter { !$0.words.isEmpty }
        guard let first = segmentsWithWords.first?.words.first else { return nil }
        let ranges = segmentsWithWords.compactMap { segment in
            segment.words.last.map { SampleRange(segment.words[0].range.start, $0.range.end) }
        }
        let pauses = segmentsWithWords.flatMap { segment in
            zip(segment.words, segment.words.dropFirst()).map { $1.range.start - $0.range.end }.filter { $0 > 0 }
        }
        speechStart = first.range.start
        speechDuration = ranges.reduce(0) { $0 + $1.seconds }
        let words = segmentsWithWords.reduce(0) { $0 + $1.words.count }
        speakingRate = speechDuration > 0 ? 60 * Double(words) / speechDuration : 0
        averagePause =
            pauses.isEmpty
            ? 0 : Double(pauses.reduce(0, +)) / Double(SamplePosition.rate) / Double(pauses.count)
    }
}
