/// A buffer of audio for an analyzer, with its start time.
public struct AnalyzerInput: Hashable, Sendable {
    /// The audio.
    public let buffer: AudioBuffer
    /// The buffer's start time; nil if it follows the previous buffer.
    ///
    /// If the buffer starts after the end of the previous one, the time between them counts as missing audio and ends
    /// the utterance.
    public let bufferStartTime: AudioTime?
    /// The number of samples missing from the file before the buffer; 0 for other inputs.
    let missing: Int64

    /// Creates an input.
    ///
    /// - Parameters:
    ///   - buffer: The audio.
    ///   - bufferStartTime: The buffer's start time; nil if it follows the previous buffer.
    public init(buffer: AudioBuffer, bufferStartTime: AudioTime? = nil) {
        self.init(buffer: buffer, missing: 0, before: bufferStartTime)
    }

    init(buffer: AudioBuffer, missing: Int64, before start: AudioTime?) {
        self.buffer = buffer
        self.missing = missing
        bufferStartTime = start
    }
}
