import Core

/// Produces volatile text of the current speech. It has its own worker, which exists only while partial results are
/// wanted.
///
/// Utterances are read in order while they are spoken, and each is read to its end even if the next one has begun. The
/// texts of an open group are joined until the group is complete; its committed text is read separately. After a
/// failure, only the partial results of one utterance are lost.
struct PartialSession {
    struct Step: Sendable {
        fileprivate var command: WorkerCommand
        fileprivate var worker: Lease?
        fileprivate var adaptation: AdaptationState?
        fileprivate var begins = false
        fileprivate var reads = false
        fileprivate var ends = false
        fileprivate var samples: [Int16] = []
        fileprivate var readUpTo = SamplePosition.zero

        func run() async -> Outcome {
            var outcome = Outcome(ends: ends, readUpTo: readUpTo)
            do {
                let worker = if let worker { worker } else { try await Lease.start(command) }
                outcome.text = try await worker.blocking {
                    if begins { try worker.process.beginPartials(adaptation: adaptation) }
                    let text = reads ? try worker.process.partial(after: samples, isComplete: ends) : nil
                    if ends { try worker.process.endPartials() }
                    return text
                }
                outcome.worker = worker
            } catch {}
            return outcome
        }
    }

    /// The result of a step; `worker` is nil after a failure.
    struct Outcome: Sendable {
        fileprivate var worker: Lease?
        fileprivate var ends: Bool
        fileprivate var readUpTo: SamplePosition
        fileprivate var text: String?
    }

    /// The minimum of new samples for a step during speech: 300 ms.
    private static let minAudio: Int64 = 4_800

    private let command: WorkerCommand
    private var worker: Lease?
    private var isBusy = false
    /// The ID of the first utterance that was not read to its end.
    private var utterance = 0
    /// Whether the worker has started that utterance.
    private var isReading = false
    private var readUpTo = SamplePosition.zero
    /// The texts of the open group's utterances, by ID.
    private var texts: [Int: String] = [:]
    private var reportedText = ""

    init(command: WorkerCommand) { self.command = command }

    /// Returns the next step; nil if there is nothing to do or a step is running.
    mutating func next(of cutter: UtteranceCutter, adaptation: AdaptationState?, wanted: Bool) -> Step? {
        guard !isBusy else { return nil }
        guard wanted else {
            (worker, isReading, texts) = (nil, false, [:])
            return nil
        }
        var step = Step(command: command, worker: worker, adaptation: adaptation)
        let open = cutter.openUtterances.first { $0.id >= utterance }
        if let open, !isReading || open.id == utterance {
            let start = isReading ? readUpTo : open.audio.start
            guard !open.isSpeaking || open.audio.end - start >= Self.minAudio else { return nil }
            step.begins = !isReading
            step.reads = true
            step.ends = !open.isSpeaking
            // The range may be empty: silence after the utterance was already read, while it could still become speech.
            step.samples = cutter.samples(of: SampleRange(start, max(start, open.audio.end)))
            step.readUpTo = open.audio.end
            (utterance, isReading, readUpTo) = (open.id, true, open.audio.end)
        } else {
            // The group is complete; its final text follows.
            guard isReading else { return nil }
            step.ends = true
        }
        isBusy = true
        return step
    }

    /// Handles the outcome of a step. Returns the open group's text if it changed or an utterance was read to its end.
    mutating func handle(
        _ outcome: Outcome, open: UtteranceCutter.Open?
    ) -> (id: Int, range: SampleRange, text: String)? {
        isBusy = false
        worker = outcome.worker
        if let new = outcome.text { texts[utterance] = new }
        if outcome.ends || worker == nil {
            utterance += 1
            isReading = false
        }
        guard let open else {
            texts = [:]
            return nil
        }
        texts = texts.filter { $0.key >= open.id }
        let text = texts.sorted { $0.key < $1.key }.map(\.value).filter { !$0.isEmpty }.joined(separator: " ")
        // The group may already be complete when the end of its last utterance is read.
        guard outcome.text != nil, text != reportedText || (outcome.ends && !text.isEmpty),
            outcome.readUpTo > open.audio.start
        else { return nil }
        reportedText = text
        return (open.id, SampleRange(open.audio.start, outcome.readUpTo), text)
    }
}
