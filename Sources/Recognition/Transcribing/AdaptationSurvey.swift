import Core

/// What a whole recording teaches an engine about microphone, room and speaker, before it is read.
///
/// To hear all speech once costs next to nothing. Whether another state suits the speaker better is told by how well some of
/// the utterances fit when they are read from each that the engine names; from little speech it cannot be told, and none is
/// tried.
struct AdaptationSurvey: Sendable {
    /// The utterances by which a state is chosen: longer ones, in samples, up to so much together.
    private static let sample = (
        shortest: 2 * SamplePosition.rate, least: 20 * SamplePosition.rate,
        most: 40 * SamplePosition.rate
    )
    /// The first step away from the engine's own state must fit better by so much a frame of 10 ms: below it chance decides.
    private static let margin = 0.2
    private static let samplesPerFrame = 160.0

    let pool: WorkerPool
    let speech: SpeechSettings

    /// The state from which the whole recording is read; nil where the engine does not tell.
    func adaptation(of audio: SecondPass.Opening) async throws -> AdaptationState? {
        let (surveyed, sample) = try await survey(audio(), from: nil)
        guard let surveyed, let best = try await best(of: surveyed.candidates, for: sample) else {
            return surveyed?.state
        }
        return try await survey(audio(), from: best).surveyed?.state
    }

    private func survey(
        _ source: any AudioSource, from first: AdaptationState?
    ) async throws -> (surveyed: WorkerPool.Surveyed?, sample: [[Int16]]) {
        var cutter = UtteranceCutter(settings: speech, start: .zero, firstID: 1)
        var surveyed: WorkerPool.Surveyed?
        var sample: [[Int16]] = []
        var sampled = 0
        var isOver = false
        while !isOver {
            try Task.checkCancellation()
            let chunk = try await source.next()
            isOver = chunk == nil
            for cut in chunk.map({ cutter.take($0) }) ?? cutter.finish() {
                guard let next = try await pool.survey(cut.samples, into: surveyed?.state ?? first) else { continue }
                surveyed = next
                if cut.samples.count >= Self.sample.shortest, sampled < Self.sample.most {
                    sample.append(cut.samples)
                    sampled += cut.samples.count
                }
            }
        }
        return (surveyed, sampled >= Self.sample.least ? sample : [])
    }

    /// The candidate with which the sample fits best; nil for none.
    private func best(of ways: [[AdaptationState]], for sample: [[Int16]]) async throws -> AdaptationState? {
        guard !sample.isEmpty, !ways.isEmpty, let plain = try await fit(sample, from: nil) else { return nil }
        var best = (way: [] as ArraySlice<AdaptationState>, fit: plain + Self.margin)
        for way in ways {
            guard let first = way.first, let fit = try await fit(sample, from: first), fit > best.fit else { continue }
            best = (way[...], fit)
        }
        // Farther on as long as it gets better.
        while let next = best.way.dropFirst().first, let fit = try await fit(sample, from: next), fit > best.fit {
            best = (best.way.dropFirst(), fit)
        }
        return best.way.first
    }

    /// Score a frame, over the whole sample; nil where an utterance has none, or cannot be read: that is told when its turn
    /// comes.
    private func fit(_ sample: [[Int16]], from state: AdaptationState?) async throws -> Double? {
        return try await withThrowingTaskGroup(of: Double?.self) { group in
            for samples in sample {
                group.addTask { [pool] in
                    do {
                        let session = try await pool.begin(samples, adaptation: state, alternatives: 0)
                        return try await pool.finish(session, samples, adaptation: state, alternatives: 0).hypothesis
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
