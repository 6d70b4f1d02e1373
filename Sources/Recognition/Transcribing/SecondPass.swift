import Core

/// Transcribes a whole recording again from disk, more slowly and accurately than live.
///
/// A pass first surveys all speech to adapt to the microphone, room and speaker, and then decodes every utterance from
/// the resulting state. The same audio gives the same text, with any number of workers and after any interruption: the
/// survey is stored or repeated, and transcription continues after the last committed segment.
package struct SecondPass: Sendable {
    /// A closure that opens the recording at its beginning.
    package typealias Opening = @Sendable () async throws -> any AudioSource

    /// The profile of the pool's workers, and the name of the pass in the archive.
    package static let profile = "final"
    package static let niceness: Int32 = 19

    private let pool: WorkerPool
    private let settings: Transcriber.Settings

    /// - Parameter pool: a pool of low-priority workers with the profile `final`.
    package init(pool: WorkerPool, settings: Transcriber.Settings = Transcriber.Settings()) {
        self.pool = pool
        self.settings = settings
    }

    /// Transcribes the recording and returns once everything is committed. Throws `CancellationError` when its task is
    /// cancelled; committed segments stay valid.
    ///
    /// - Parameters:
    ///   - audio: opens the recording, and is called up to three times.
    ///   - adaptation: the state from an earlier survey of the recording; nil to survey it now.
    ///   - committed: the last committed segment of this pass; nil if there is none.
    /// - Throws: errors from the source and the sink; `DeviceError` with `missing` or `damaged` if the engine cannot be
    ///   loaded; `Transcriber.Diverged` if the pass was started with other settings.
    package func run(
        _ audio: Opening, into sink: any TranscriptSink, adaptation: AdaptationState? = nil,
        committed: Transcriber.Continuation? = nil
    ) async throws -> Statistics {
        var adaptation = adaptation
        if adaptation == nil { adaptation = try await self.adaptation(of: audio) }
        return try await Transcriber(pool: pool, settings: settings).run(
            CancellableSource(source: audio()), into: sink, adaptation: adaptation, committed: committed)
    }

    /// Surveys a recording and returns the state for `run`; nil if the engine does not adapt.
    package func adaptation(of audio: Opening) async throws -> AdaptationState? {
        try await AdaptationSurvey(pool: pool, speech: settings.speech).adaptation(of: audio)
    }
}

/// An audio source that throws `CancellationError` from `next` if the task is cancelled.
private struct CancellableSource: AudioSource {
    let source: any AudioSource

    func next() async throws -> AudioChunk? {
        try Task.checkCancellation()
        return try await source.next()
    }
}
