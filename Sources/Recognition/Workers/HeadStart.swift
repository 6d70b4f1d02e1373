import Core

/// The utterance that is being spoken, on its way to a worker while it grows, so that only its tail is left to be read
/// when it ends.
///
/// Pure but for its steps. A failure costs the head start and nothing else: the utterance is then read as a whole.
struct HeadStart {
    /// A step that may take a while.
    struct Step: Sendable {
        fileprivate var pool: WorkerPool
        fileprivate var hearing: WorkerPool.Hearing?
        fileprivate var adaptation: AdaptationState?
        fileprivate var alternatives: Int
        fileprivate var samples: [Int16]

        func run() async -> Outcome {
            do {
                let hearing =
                    if let hearing { hearing as WorkerPool.Hearing? } else {
                        try await pool.hear(adaptation: adaptation, alternatives: alternatives)
                    }
                guard let hearing else { return .busy }
                try await pool.hear(samples, by: hearing)
                guard Task.isCancelled else { return .heard(hearing) }
                await pool.abandon(hearing)
                return .failed
            } catch {
                return .failed
            }
        }
    }

    /// What a step came to.
    enum Outcome: Sendable {
        case heard(WorkerPool.Hearing)
        /// No worker is free.
        case busy
        case failed
    }

    /// An utterance that is shorter is read as a whole; more is handed on in pieces of this length.
    private static let least = (first: Int64(3 * SamplePosition.rate), further: Int64(SamplePosition.rate / 4))

    private let pool: WorkerPool
    private let alternatives: Int
    private var utterance: Int?
    private var hearing: WorkerPool.Hearing?
    private var heardUpTo = SamplePosition.zero
    /// The utterance on which it failed.
    private var given: Int?
    /// Whether a step is under way.
    private(set) var isBusy = false

    init(pool: WorkerPool, alternatives: Int) {
        self.pool = pool
        self.alternatives = alternatives
    }

    /// The next step, where there is something to do and none is under way.
    mutating func next(of work: Transcription) -> Step? {
        guard !isBusy, let speaking = work.cutter.speaking, speaking.id != given, speaking.id == work.nextToBegin,
            let certain = work.cutter.certainWatermark
        else { return nil }
        // What is read across a seam holds up all that is said since.
        if hearing == nil, work.isBridging { return nil }
        // Where no worker was free, one may be when there is more to hear.
        if hearing == nil, utterance == speaking.id, certain - heardUpTo < Self.least.further { return nil }
        let from = hearing == nil ? speaking.start : heardUpTo
        guard certain - from >= (hearing == nil ? Self.least.first : Self.least.further) else { return nil }
        utterance = speaking.id
        heardUpTo = certain
        isBusy = true
        return Step(
            pool: pool, hearing: hearing, adaptation: work.adaptation, alternatives: alternatives,
            samples: work.cutter.samples(of: SampleRange(from, certain)))
    }

    mutating func take(_ outcome: Outcome) {
        isBusy = false
        hearing = nil
        switch outcome {
        case .heard(let worker): hearing = worker
        case .busy: break
        case .failed: given = utterance
        }
    }

    /// The worker that has heard the head of this utterance, and the rest that it has not; nil where there is none.
    mutating func release(for cut: UtteranceCutter.Cut) -> (hearing: WorkerPool.Hearing, rest: [Int16])? {
        guard let hearing, utterance == cut.utterance.id else { return nil }
        self.hearing = nil
        return (hearing, Array(cut.samples.dropFirst(Int(heardUpTo - cut.utterance.audio.start))))
    }

    /// Lets go of the worker.
    mutating func abandon() async {
        if let hearing { await pool.abandon(hearing) }
        hearing = nil
    }
}
