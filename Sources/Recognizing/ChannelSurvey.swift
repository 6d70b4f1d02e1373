import Core
import Segmenting

/// What a whole recording teaches about its channel and its speaker, before it is read.
///
/// The mean over all speech costs next to nothing. The warp is chosen by how well some of the utterances fit when they
/// are read with each; from little speech it cannot be told, and is left alone.
struct ChannelSurvey: Sendable {
    /// The utterances by which the warp is chosen: longer ones, in samples, up to so much together.
    private static let sample = (
        shortest: 2 * SamplePosition.rate, least: 20 * SamplePosition.rate,
        most: 40 * SamplePosition.rate
    )
    /// From the speaker who is nearest to the model outwards.
    private static let warps = [0.92, 1.08]
    private static let farther = [0.92: 0.86, 1.08: 1.16]
    /// A warp must fit better by so much a frame of 10 ms: below it chance decides.
    private static let margin = 0.2
    private static let samplesPerFrame = 160.0

    let pool: WorkerPool
    let speech: SpeechSettings

    /// The recording's channel; nil where the engine does not tell.
    func channel(of audio: SecondPass.Opening) async throws -> AdaptationState? {
        let (channel, sample) = try await mean(of: audio(), warp: nil)
        guard channel != nil, let warp = try await warp(sample) else { return channel }
        return try await mean(of: audio(), warp: warp).channel
    }

    private func mean(
        of source: any AudioSource, warp: Double?
    ) async throws -> (channel: AdaptationState?, sample: [[Int16]]) {
        var cutter = UtteranceCutter(settings: speech, start: .zero, firstID: 1)
        var sum: [Double] = []
        var weight = 0.0
        var sample: [[Int16]] = []
        var sampled = 0
        var isOver = false
        while !isOver {
            try Task.checkCancellation()
            let chunk = try await source.next()
            isOver = chunk == nil
            for cut in chunk.map({ cutter.take($0) }) ?? cutter.finish() {
                guard let mean = try await pool.survey(cut.samples, warp: warp)?.cepstralMean else { continue }
                if sum.isEmpty { sum = mean.map { _ in 0 } }
                guard sum.count == mean.count else { continue }
                let count = Double(cut.samples.count)
                for index in sum.indices { sum[index] += count * Double(mean[index]) }
                weight += count
                if cut.samples.count >= Self.sample.shortest, sampled < Self.sample.most {
                    sample.append(cut.samples)
                    sampled += cut.samples.count
                }
            }
        }
        let channel = weight > 0 ? AdaptationState(cepstralMean: sum.map { Float($0 / weight) }, warp: warp) : nil
        return (channel, sampled >= Self.sample.least ? sample : [])
    }

    /// The warp with which the sample fits best; nil for none.
    private func warp(_ sample: [[Int16]]) async throws -> Double? {
        guard !sample.isEmpty, let plain = try await fit(sample, warp: nil) else { return nil }
        var best = (warp: nil as Double?, fit: plain + Self.margin)
        for warp in Self.warps {
            guard let fit = try await fit(sample, warp: warp), fit > best.fit else { continue }
            best = (warp, fit)
        }
        if let next = best.warp.flatMap({ Self.farther[$0] }), let fit = try await fit(sample, warp: next),
            fit > best.fit
        {
            best.warp = next
        }
        return best.warp
    }

    /// Score a frame, over the whole sample; nil where an utterance has none, or cannot be read: that is told when its turn
    /// comes.
    private func fit(_ sample: [[Int16]], warp: Double?) async throws -> Double? {
        let channel = warp.map { AdaptationState(cepstralMean: [], warp: $0) }
        return try await withThrowingTaskGroup(of: Double?.self) { group in
            for samples in sample {
                group.addTask { [pool] in
                    do {
                        let session = try await pool.begin(samples, channel: channel, alternatives: 0)
                        return try await pool.finish(session, samples, channel: channel, alternatives: 0).hypothesis
                            .score
                    } catch let error as DeviceError where error.isOfOneUtterance { return nil }
                }
            }
            var total = 0.0
            while let score = try await group.next() {
                guard let score else { return nil }
                total += score
            }
            return total / (Double(sample.reduce(0) { $0 + $1.count }) / Self.samplesPerFrame)
        }
    }
}
