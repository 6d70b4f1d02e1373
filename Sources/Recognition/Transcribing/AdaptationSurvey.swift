import Core

/// Adapts an engine to the microphone, room and speaker of a whole recording before transcription.
///
/// A first pass over all speech is cheap. Then the survey decodes some utterances with each candidate state of the
/// engine, and chooses the one with the best score. With too little speech, it tries no candidates.
struct AdaptationSurvey: Sendable {
    /// The utterances for choosing a state, in samples: the minimum length of each, and the minimum and maximum total
    /// length.
    private static let sample = (
        shortest: 2 * SamplePosition.rate, least: 20 * SamplePosition.rate,
        most: 40 * SamplePosition.rate
    )
    /// The minimum gain of a candidate in score per 10 ms frame; smaller differences are random.
    private static let margin = 0.2
    private static let samplesPerFrame = 160.0

    let pool: WorkerPool
    let speech: SpeechSettings

    /// Returns the state for transcribing the recording; nil if the engine does not adapt.
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
            for cut in chunk.map({ cutter.append($0) }) ?? cutter.finish() {
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

    /// Returns the candidate with the best score; nil if none is better than no state.
    private func best(of ways: [[AdaptationState]], for sample: [[Int16]]) async throws -> AdaptationState? {
        guard !sample.isEmpty, !ways.isEmpty, let plain = try await fit(sample, from: nil) else { return nil }
        var best = (way: [] as ArraySlice<AdaptationState>, fit: plain + Self.margin)
        for way in ways {
            guard let first = way.first, let fit = try await fit(sample, from: first), fit > best.fit else { continue }
            best = (way[...], fit)
        }
        // Continue in this direction while the score improves.
        while let next = best.way.dropFirst().first, let fit = try await fit(sample, from: next), fit > best.fit {
            best = (best.way.dropFirst(), fit)
        }
        return best.way.first
    }

    /// Returns the score per frame over the sample; nil if an utterance has no score or cannot be read. Its
    /// transcription will report the error.
    private func fit(_ sample: [[Int16]], from state: AdaptationState?) async throws -> Double? {
        try await withThrowingTaskGroup(of: Double?.self) { group in
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
