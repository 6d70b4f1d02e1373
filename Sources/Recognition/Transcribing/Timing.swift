import Core

/// Finds the times of words that another engine recognized (forced alignment). Use each object on one thread only.
protocol Timing: AnyObject {
    /// Returns a range for each word, in order, without overlaps; nil if the words do not match the audio.
    ///
    /// - Parameters:
    ///   - words: the words as written, with punctuation: `Mr.`, `don't`, `$5.50`. A silent one, such as a dash, gets
    ///     an empty range.
    ///   - samples: mono, 16-bit, 16 kHz; ranges count from the first sample.
    /// - Throws: `DeviceError` with `unsupported` if the engine cannot align at all, `failed` if its library fails.
    func times(
        of words: [String], in samples: UnsafeBufferPointer<Int16>
    ) throws(DeviceError) -> [SampleRange]?
}
