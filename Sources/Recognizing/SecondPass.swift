import Core
import Segmenting

/// Reads a whole recording once more, from the disk, slower and better than while it was recorded.
///
/// First the channel is surveyed over all of the recording's speech, which costs next to nothing; then every utterance
/// is read starting from that. The same audio gives the same text, with one worker or many, and when it was broken off
/// in between: the survey is made anew, and the reading goes on behind the last segment that was committed.
package struct SecondPass: Sendable {
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
    ///   - audio: opens the recording at its beginning; called twice.
    ///   - committed: the number of the last segment that is committed in this pass, 0 for none.
    /// - Throws: what source and sink throw; `DeviceError` with `missing` or `damaged` where the engine cannot be loaded.
    package func run(
        _ audio: @Sendable () async throws -> any AudioSource, into sink: any TranscriptSink, committed: Int = 0
    ) async throws -> Statistics {
        let channel = try await survey(audio())
        return try await Transcriber(pool: pool, settings: settings).run(
            audio(), into: sink, channel: channel, committed: committed)
    }

    /// The mean channel of all speech; nil where the engine does not tell.
    package func survey(_ source: any AudioSource) async throws -> ChannelState? {
        var cutter = UtteranceCutter(settings: settings.speech, start: .zero, firstID: 1)
        var sum: [Double] = []
        var weight = 0.0
        var isOver = false
        while !isOver {
            try Task.checkCancellation()
            let chunk = try await source.next()
            isOver = chunk == nil
            for cut in chunk.map({ cutter.take($0) }) ?? cutter.finish() {
                guard let mean = try await pool.survey(cut.samples)?.cepstralMean else { continue }
                if sum.isEmpty { sum = mean.map { _ in 0 } }
                guard sum.count == mean.count else { continue }
                let count = Double(cut.samples.count)
                for index in sum.indices { sum[index] += count * Double(mean[index]) }
                weight += count
            }
        }
        return weight > 0 ? ChannelState(cepstralMean: sum.map { Float($0 / weight) }) : nil
    }
}
