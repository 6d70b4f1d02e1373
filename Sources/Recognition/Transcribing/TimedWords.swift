import Core

/// Words that were read without their times, each where it was said.
///
/// Where `timing` finds them, its ranges count. Where it does not, or fails, the text is worth more than its times: the
/// words are spread over the speech, and marked so.
///
/// - Parameters:
///   - words: in their order, as they are written; their ranges do not count.
///   - samples: what they were read from: mono, 16-bit, 16 kHz.
///   - parts: where there is speech in it, counted from its first sample, in order; none: everywhere.
func timed(
    _ words: [Word], in samples: UnsafeBufferPointer<Int16>, by timing: (any Timing)?, parts: [SampleRange] = []
) -> [Word] {
    guard !words.isEmpty else { return [] }
    if let ranges = try? timing?.times(of: words.map(\.text), in: samples), ranges.count == words.count {
        return zip(words, ranges).map { Word($0.text, $1, confidence: $0.confidence) }
    }
    let whole = SampleRange(.zero, SamplePosition(Int64(samples.count)))
    let heard = parts.compactMap { $0.intersection(whole) }
    return spread(words, over: heard.isEmpty ? [whole] : heard)
}
