/// The ability to tell where words were said that somebody else has read. Born, used and freed on one thread.
package protocol Timing: AnyObject {
    /// Where each of these words was said: a range a word, in order, none of which overlaps another; nil where they cannot
    /// be found in this audio.
    ///
    /// - Parameters:
    ///   - words: as they are written, with their marks: `Mr.`, `don't`, `$5.50`. One without any sound, such as a dash,
    ///     has an empty range between its neighbours.
    ///   - samples: mono, 16-bit, 16 kHz; the ranges count from its first.
    /// - Throws: `DeviceError` with `unsupported` where the engine cannot do this at all, `failed` where its library does.
    func times(
        of words: [String], in samples: UnsafeBufferPointer<Int16>
    ) throws(DeviceError) -> [SampleRange]?
}
