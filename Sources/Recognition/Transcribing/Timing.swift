import Core

/// Finds when words were said that another engine recognized (forced alignment). Used on one thread.
protocol Timing: AnyObject {
    /// Returns a range for each word, in order, without overlaps; nil if the words do not match the audio.
    ///
    /// - Parameters:
    ///   - words: As written, with punctuation: `Mr.`, `don't`, `$5.50`. One without sound, such as a dash, gets an empty range.
    ///   - samples: Mono, 16-bit, 16 kHz; ranges count from the first.
    /// - Throws: `DeviceError` with `unsupported` if the engine cannot do this at all, `failed` if its library fails.
    func times(
        of words: [String], in samples: UnsafeBufferPointer<Int16>
    ) throws(DeviceError) -> [SampleRange]?
}
