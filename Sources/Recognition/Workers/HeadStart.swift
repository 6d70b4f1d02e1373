import Core

/// Sends the current utterance to a worker while it is spoken, so that little remains to be decoded when the utterance
/// ends.
///
/// After a failure, the whole utterance is decoded at its end.
struct HeadStart {
    struct Step: Sendable {
        fileprivate var pool: WorkerPool
        fileprivate var worker: Lease?
        fileprivate var adaptation: AdaptationState?
        fileprivate var alternatives: Int
        fileprivate var samples: [Int16]

        func run() async -> Outcome {
            do {
                let worker =
                    if let worker { worker as Lease? } else {
                        try await pool.beginEarly(adaptation: adaptation, alternatives: alternatives)
                    }
                guard let worker else { return .busy }
                try await pool.append(samples, to: worker)
                guard Task.isCancelled else { return .sent(worker) }
                await pool.abandon(worker)
                return .failed
            } catch {
                return .failed
            }
        }
    }

    enum Outcome: Sendable {
        case sent(Lease)
        case busy
        case failed
    }

    /// The minimum number of samples in the first step and in each later step. An utterance that is too short for the
    /// first step is decoded at its end.
    private static let minimumSamples = (first: Int64(3 * SamplePosition.rate), later: Int64(SamplePosition.rate / 4))

    private let pool: WorkerPool
    private let alternatives: Int
    /// The ID of the utterance in the last step.
    private var utteranceID: Int?
    private var worker: Lease?
    private var sentUpTo = SamplePosition.zero
    /// The ID of the last utterance whose head start failed.
    private var failedUtterance: Int?
    private(set) var isBusy = false

    init(pool: WorkerPool, alternatives: Int) {
        self.pool = pool
        self.alternatives = alternatives
    }

    /// Returns the next step; nil if there is nothing to do or a step is running.
    mutating func next(of work: Transcription) -> Step? {
        guard !isBusy, let speaking = work.cutter.speaking, speaking.id != failedUtterance,
            speaking.id == work.nextToBegin,
            let certain = work.cutter.certainWatermark
        else { return nil }
        // Leave the worker for the seam, because all later commits wait for the seam.
        if worker == nil, work.isBridging { return nil }
        // If no worker was free, retry after more audio.
        if worker == nil, utteranceID == speaking.id, certain - sentUpTo < Self.minimumSamples.later { return nil }
        let from = worker == nil ? speaking.start : sentUpTo
        guard certain - from >= (worker == nil ? Self.minimumSamples.first : Self.minimumSamples.later)
        else { return nil }
        utteranceID = speaking.id
        sentUpTo = certain
        isBusy = true
        return Step(
            pool: pool, worker: worker, adaptation: work.adaptation, alternatives: alternatives,
            samples: work.cutter.samples(of: SampleRange(from, certain)))
    }

    mutating func handle(_ outcome: Outcome) {
        isBusy = false
        worker = nil
        switch outcome {
        case .sent(let lease): worker = lease
        case .busy: break
        case .failed: failedUtterance = utteranceID
        }
    }

    /// Returns the worker that has received the beginning of this utterance, and the samples that it lacks; nil if
    /// there is no such worker.
    mutating func release(for cut: UtteranceCutter.Cut) -> (worker: Lease, rest: [Int16])? {
        guard let worker, utteranceID == cut.utterance.id else { return nil }
        self.worker = nil
        return (worker, Array(cut.samples.dropFirst(Int(sentUpTo - cut.utterance.audio.start))))
    }

    mutating func abandon() async {
        if let worker { await pool.abandon(worker) }
        worker = nil
    }
}
