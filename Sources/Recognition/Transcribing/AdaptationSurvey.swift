import Core

/// Adapts an engine to the microphone, room and speaker of a whole recording before transcription.
///
/// The survey first adapts to all speech, which is cheap. Then it decodes some utterances, first without a state and
/// then with the engine's candidate states. If a candidate scores clearly better than no state, the survey starts again
/// from that candidate. If there is too little speech, the survey tries no candidates.
struct AdaptationSurvey: Sendable {
    /// The limits for the utterances that candidates are compared on, in samples: the minimum length of each utterance,
    /// and the minimum and maximum total length. The last utterance may exceed the maximum.
    private static let limits = (
        minimumEach: 2 * SamplePosition.rate, minimumTotal: 20 * SamplePosition.rate,
        maximumTotal: 40 * SamplePosition.rate
    )
    /// The minimum improvement per 10 ms frame over the score without a state; smaller improvements are random.
    private static let margin = 0.2
    private static let samplesPerFrame = 160.0

    let pool: WorkerPool
    let speech: SpeechSettings

    /// Returns the state for transcribing the recording; nil if the engine does not adapt or there is no speech.
    func adaptation(of audio: SecondPass.Opening) async throws -> AdaptationState? {
        let (surveyResult, sample) = try await survey(audio(), from: nil)
        guard let surveyResult, let best = try await best(of: surveyResult.candidates, for: sample) else {
            return surveyResult?.state
        }
        return try await survey(audio(), from: best).surveyResult?.state
    }

    private func survey(
        _ source: any AudioSource, from first: AdaptationState?
    ) async throws -> (surveyResult: WorkerPool.SurveyResult?, sample: [[Int16]]) {
        var cutter = UtteranceCutter(settings: speech, start: .zero, firstID: 1)
        var surveyResult: WorkerPool.SurveyResult?
        var sample: [[Int16]] = []
        var sampledCount = 0
        var isAtEnd = false
        while !isAtEnd {
            try Task.checkCancellation()
            let chunk = try await source.next()
            isAtEnd = chunk == nil
            for cut in chunk.map({ cutter.append($0) }) ?? cutter.finish() {
                let state = surveyResult?.state ?? first
                guard let result = try await pool.survey(cut.samples, into: state) else { continue }
                surveyResult = result
                if cut.samples.count >= Self.limits.minimumEach, sampledCount < Self.limits.maximumTotal {
                    sample.append(cut.samples)
                    sampledCount += cut.samples.count
                }
            }
        }
        return (surveyResult, sampledCount >= Self.limits.minimumTotal ? sample : [])
    }

    /// Returns the candidate with the best score; nil if no candidate is better than starting without a state.
    private func best(of directions: [[AdaptationState]], for sample: [[Int16]]) async throws -> AdaptationState? {
        guard !sample.isEmpty, !directions.isEmpty, let baseline = try await score(sample, from: nil) else {
            return nil
        }
        var best = (states: [] as ArraySlice<AdaptationState>, score: baseline + Self.margin)
        for states in directions {
            guard let first = states.first, let score = try await score(sample, from: first), score > best.score
            else { continue }
            best = (states[...], score)
        }
        // Continue in this direction while the score improves.
        while let next = best.states.dropFirst().first, let score = try await score(sample, from: next),
            score > best.score
        {
            best = (best.states.dropFirst(), score)
        }
        return best.states.first
    }

    /// Returns the sample's score per frame; nil if an utterance has no score or cannot be decoded. The transcription
    /// that follows reports the error.
    private func score(_ sample: [[Int16]], from state: AdaptationState?) async throws -> Double? {
        try await withThrowingTaskGroup(of: Double?.self) { group in
            for samples in sample {
                group.addTask { [pool] in
                    do {
                        let session = try await pool.begin(samples, adaptation: state, alternatives: 0)
                        return try await pool.finish(session, samples, adaptation: state, alternatives: 0).hypothesis
                            .score
                    } catch let error as DeviceError where error.concernsOneUtterance { return nil }
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
