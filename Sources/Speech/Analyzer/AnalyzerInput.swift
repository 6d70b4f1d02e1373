/// A buffer of audio for an analyzer, with its place in time.
public struct AnalyzerInput: Hashable, Sendable {
    /// The audio.
    public let buffer: AudioBuffer
    /// When the buffer begins; nil if it follows the previous one.
    ///
    /// If it is later than the end of the previous buffer, the time between counts as missing audio and ends an utterance.
    public let bufferStartTime: AudioTime?
    /// The number of samples missing from the file before the buffer; 0 for other inputs.
    let missing: Int64

    /// - Parameters:
    ///   - buffer: the audio.
    ///   - bufferStartTime: nil if the buffer follows the previous one.
    public init(buffer: AudioBuffer, bufferStartTime: AudioTime? = nil) {
        self.init(buffer: buffer, missing: 0, before: bufferStartTime)
    }

    init(buffer: AudioBuffer, missing: Int64, before start: AudioTime?) {
        self.buffer = buffer
        self.missing = missing
        bufferStartTime = start
    }
}
