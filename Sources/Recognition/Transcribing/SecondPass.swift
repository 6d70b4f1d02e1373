import Core

/// Reads a whole recording once more, from the disk, slower and better than while it was recorded.
///
/// First microphone, room and speaker are surveyed over the recording's speech; then every utterance is read starting
/// from that. The same audio gives the same text, with one worker or many, and when it was broken off in between: the
/// survey is kept or made anew, and the reading goes on behind the last segment that was committed.
package struct SecondPass: Sendable {
    /// Opens the recording at its beginning.
    package typealias Opening = @Sendable () async throws -> any AudioSource

    /// The profile of the pool's workers, and the name of the archive's pass.
    package static let profile = "final"
    /// How far the workers step back behind everything else.
    package static let niceness: Int32 = 19

    private let pool: WorkerPool
    private let settings: Transcriber.Settings

    /// - Parameters:
    ///   - pool: niced workers with the profile `final`.
    package init(pool: WorkerPool, settings: Transcriber.Settings = Transcriber.Settings()) {
        self.pool = pool
        self.settings = settings
    }

    /// Reads the recording and returns once everything is committed. It ends early, with `CancellationError`, when its
    /// task is cancelled; what is committed stays good.
    ///
    /// - Parameters:
    ///   - audio: called up to three times.
    ///   - adaptation: the adaptation state of the whole recording, where an earlier run has surveyed it.
    ///   - committed: the last segment that is committed in this pass.
    /// - Throws: what source and sink throw; `DeviceError` with `missing` or `damaged` where the engine cannot be loaded;
    ///   `Transcriber.Diverged` where the pass was begun with other settings.
    package func run(
        _ audio: Opening, into sink: any TranscriptSink, adaptation: AdaptationState? = nil,
        committed: Transcriber.Continuation? = nil
    ) async throws -> Statistics {
        var adaptation = adaptation
        if adaptation == nil { adaptation = try await self.adaptation(of: audio) }
        return try await Transcriber(pool: pool, settings: settings).run(
            CancellableSource(source: audio()), into: sink, adaptation: adaptation, committed: committed)
    }

    /// Surveys a recording: the adaptation state that `run` reads it with; nil where the engine tells of none.
    package func adaptation(of audio: Opening) async throws -> AdaptationState? {
        try await AdaptationSurvey(pool: pool, speech: settings.speech).adaptation(of: audio)
    }
}

/// Ends the reading when its task is cancelled; utterances that are being decoded are waited for.
private struct CancellableSource: AudioSource {
    let source: any AudioSource

    func next() async throws -> AudioChunk? {
        try Task.checkCancellation()
        return try await source.next()
    }
}
