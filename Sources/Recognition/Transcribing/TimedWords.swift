import Core

/// Returns words with times from `timing`. If it fails, the words are spread over the speech and marked as spread.
///
/// - Parameters:
///   - words: the words in order; their ranges are ignored.
///   - samples: the audio of the words: mono, 16-bit, 16 kHz.
///   - parts: the ranges with speech, in order; empty if all samples are speech.
func timed(
    _ words: [Word], in samples: UnsafeBufferPointer<Int16>, by timing: (any Timing)?, parts: [SampleRange] = []
) -> [Word] {
    guard !words.isEmpty else { return [] }
    if let ranges = try? timing?.times(of: words.map(\.text), in: samples), ranges.count == words.count {
        return zip(words, ranges).map { Word($0.text, $1, confidence: $0.confidence) }
    }
    let whole = SampleRange(.zero, SamplePosition(Int64(samples.count)))
    let spoken = parts.compactMap { $0.intersection(whole) }
    return spread(words, over: spoken.isEmpty ? [whole] : spoken)
}
