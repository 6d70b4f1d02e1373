import Core

/// Where a transcription's audio comes from: a file, or a recording that is still growing.
package protocol AudioSource: Sendable {
    /// Waits for the next stretch of audio; nil at the end. Called by one task at a time.
    func next() async throws -> AudioChunk?
}

/// A stretch of audio, in the order of time.
package enum AudioChunk: Hashable, Sendable {
    /// Mono 16-bit samples at 16 kHz.
    case samples([Int16])
    /// Audio that is missing; the samples go on at its end.
    case gap(Gap)
}

/// Who takes what a transcription finds.
package protocol TranscriptSink: Sendable {
    /// Takes a segment: each exactly once, in order, none overlapping another.
    ///
    /// - Parameter adaptation: the engine's state behind it, for who goes on from there; nil where none is known.
    func commit(_ segment: Segment, adaptation: AdaptationState?) async throws

    /// Takes the segments of utterances that were read as one, in order: all before anything else, and best all or none.
    ///
    /// - Parameter adaptation: the state behind the last of them.
    func commit(_ segments: [Segment], adaptation: AdaptationState?) async throws

    /// Says which engine has read what is committed from here on: before the first segment, and where another reads on.
    ///
    /// - Throws: where what that engine reads is not wanted; nothing more is then committed.
    func isRead(by engine: EngineDescription) async throws

    /// Says that everything before `position` is transcribed or silent.
    func transcribed(upTo position: SamplePosition) async throws

    /// Takes the volatile reading of the segment that is being spoken.
    func partial(segment: Int, range: SampleRange, text: String) async

    /// Says that a session was rotated while speech went on.
    func rotated(at position: SamplePosition) async

    /// Says that something failed and was worked around.
    func fault(_ error: DeviceError) async

    /// Whether anybody wants partial readings now.
    var wantsPartials: Bool { get }
}

extension TranscriptSink {
    package func commit(_ segments: [Segment], adaptation: AdaptationState?) async throws {
        for (index, segment) in segments.enumerated() {
            try await commit(segment, adaptation: index == segments.count - 1 ? adaptation : nil)
        }
    }
    func isRead(by engine: EngineDescription) async throws {}
    package func transcribed(upTo position: SamplePosition) async throws {}
    package func partial(segment: Int, range: SampleRange, text: String) async {}
    package func rotated(at position: SamplePosition) async {}
    package func fault(_ error: DeviceError) async {}
    package var wantsPartials: Bool { false }
}
