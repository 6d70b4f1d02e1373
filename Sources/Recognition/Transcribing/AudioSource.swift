import Core

/// The audio to transcribe: a file or a growing recording.
package protocol AudioSource: Sendable {
    /// Waits for the next chunk and returns it; nil at the end. Only one task may call this at a time.
    func next() async throws -> AudioChunk?
}

/// A chunk of audio. Chunks arrive in time order.
package enum AudioChunk: Hashable, Sendable {
    /// 16-bit samples at 16 kHz; mono unless the source is set to keep several channels.
    case samples([Int16])
    /// Missing audio; the next samples begin at the gap's end.
    case gap(Gap)
}

/// Receives the results of a transcription.
package protocol TranscriptSink: Sendable {
    /// Commits the segments of one utterance group, all or none. Each segment is committed once, in order, without
    /// overlaps.
    ///
    /// - Parameter adaptation: the engine's state after the last segment; nil if unknown.
    func commit(_ segments: [Segment], adaptation: AdaptationState?) async throws

    /// Records the engine that transcribes the following segments. It is called before the first segment, and whenever
    /// another engine takes over.
    ///
    /// - Throws: an error to reject this engine's text. The transcription then ends without another commit.
    func recordEngine(_ engine: EngineDescription) async throws

    /// Reports that all audio before `position` is transcribed or silent.
    func markTranscribed(upTo position: SamplePosition) async throws

    /// Reports the text so far of the segment that is being spoken. The text may still change.
    func partial(segment: Int, range: SampleRange, text: String) async

    /// Reports that a long utterance was cut during speech.
    func rotated(at position: SamplePosition) async

    /// Reports an error from which the transcription has recovered.
    func fault(_ error: DeviceError) async

    /// Whether partial results are wanted now.
    var wantsPartials: Bool { get }
}

extension TranscriptSink {
    func recordEngine(_ engine: EngineDescription) async throws {}
    package func markTranscribed(upTo position: SamplePosition) async throws {}
    package func partial(segment: Int, range: SampleRange, text: String) async {}
    package func rotated(at position: SamplePosition) async {}
    package func fault(_ error: DeviceError) async {}
    package var wantsPartials: Bool { false }
}
