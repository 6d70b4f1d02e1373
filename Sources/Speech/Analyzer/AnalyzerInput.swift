/// A buffer of audio for an analyzer, with its place in time.
public struct AnalyzerInput: Hashable, Sendable {
    /// The audio.
    public let buffer: AudioBuffer
    /// When the buffer begins; nil if it follows the previous one.
    ///
    /// If it is later than the end of the previous buffer, the time between counts as missing audio and ends an utterance.
    public let bufferStartTime: AudioTime?

    /// - Parameters:
    ///   - buffer: the audio.
    ///   - bufferStartTime: nil if the buffer follows the previous one.
    public init(buffer: AudioBuffer, bufferStartTime: AudioTime? = nil) {
        self.buffer = buffer
        self.bufferStartTime = bufferStartTime
    }
}
