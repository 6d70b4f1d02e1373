import Core

/// Finds the times of words that another engine recognized (forced alignment). Use each object on one thread only.
package protocol AlignmentEngine: AnyObject {
    /// Returns a range for each word, in order, without overlaps; nil if the words do not match the audio.
    ///
    /// - Parameters:
    ///   - words: the words as written, with punctuation, such as `Mr.`, `don't` or `$5.50`. A word that is not spoken,
    ///     such as a dash, gets an empty range.
    ///   - samples: mono, 16-bit, 16 kHz. The ranges count from the first sample.
    /// - Throws: `DeviceError` with `unsupported` if the engine cannot align words at all, `failed` if its library
    ///   fails.
    func times(
        of words: [String], in samples: UnsafeBufferPointer<Int16>
    ) throws(DeviceError) -> [SampleRange]?
}

extension AlignmentEngine {
    /// Returns words with their times. If the engine cannot align them, spreads the words over the speech.
    ///
    /// - Parameters:
    ///   - words: the words in order; their ranges are ignored.
    ///   - samples: the audio of the words: mono, 16-bit, 16 kHz.
    ///   - parts: the ranges with speech, in order; empty if all samples are speech.
    func timed(_ words: [Word], in samples: UnsafeBufferPointer<Int16>, parts: [SampleRange]) -> [Word] {
        if let ranges = try? times(of: words.map(\.text), in: samples), ranges.count == words.count {
            return zip(words, ranges).map { Word($0.text, $1, confidence: $0.confidence) }
        }
        let whole = SampleRange(.zero, SamplePosition(Int64(samples.count)))
        let spoken = parts.compactMap { $0.intersection(whole) }
        return spread(words, over: spoken.isEmpty ? [whole] : spoken)
    }
}
