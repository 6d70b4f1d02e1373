import Core

/// Produces partial results for the current speech. It has its own worker, which exists only while partial results are
/// wanted.
///
/// Utterances are decoded in order while they are spoken, each to its end even if the next one has begun. The
/// texts of an open group are joined until the group is complete; its final text is decoded separately. After a
/// failure, only one utterance's partial results are lost.
struct PartialSession {
    struct Step: Sendable {
        fileprivate var command: WorkerCommand
        fileprivate var worker: Lease?
        fileprivate var adaptation: AdaptationState?
        fileprivate var begins = false
        fileprivate var decodes = false
        fileprivate var ends = false
        fileprivate var samples: [Int16] = []
        fileprivate var decodedUpTo = SamplePosition.zero

        func run() async -> Outcome {
            var outcome = Outcome(ends: ends, decodedUpTo: decodedUpTo)
            do {
                let worker = if let worker { worker } else { try await Lease.start(command) }
                outcome.text = try await worker.blocking {
                    if begins { try worker.process.beginPartials(adaptation: adaptation) }
                    let text = decodes ? try worker.process.partial(after: samples, isComplete: ends) : nil
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
        fileprivate var decodedUpTo: SamplePosition
        fileprivate var text: String?
    }

    /// The minimum number of new samples for a step during speech: 300 ms.
    private static let minAudio: Int64 = 4_800

    private let command: WorkerCommand
    private var worker: Lease?
    private var isBusy = false
    /// The ID of the first utterance that is not yet decoded to its end.
    private var utterance = 0
    /// Whether the worker has started `utterance`.
    private var isDecoding = false
    private var decodedUpTo = SamplePosition.zero
    /// The texts of the open group's utterances, by ID.
    private var texts: [Int: String] = [:]
    /// The group and the text of the last report.
    private var reported = (id: 0, text: "")

    init(command: WorkerCommand) { self.command = command }

    /// Returns the next step; nil if there is nothing to do or a step is running.
    mutating func next(of cutter: UtteranceCutter, adaptation: AdaptationState?, isWanted: Bool) -> Step? {
        guard !isBusy else { return nil }
        guard isWanted else {
            (worker, isDecoding, texts, reported.text) = (nil, false, [:], "")
            return nil
        }
        var step = Step(command: command, worker: worker, adaptation: adaptation)
        let open = cutter.openUtterances.first { $0.id >= utterance }
        if let open, !isDecoding || open.id == utterance {
            let start = isDecoding ? decodedUpTo : open.audio.start
            guard !open.isSpeaking || open.audio.end - start >= Self.minAudio else { return nil }
            step.begins = !isDecoding
            step.decodes = true
            step.ends = !open.isSpeaking
            // The range is empty if the previous step already decoded the silence in which the utterance ends.
            step.samples = cutter.samples(of: SampleRange(start, max(start, open.audio.end)))
            step.decodedUpTo = open.audio.end
            (utterance, isDecoding, decodedUpTo) = (open.id, true, open.audio.end)
        } else {
            // The group is complete; its final text follows.
            guard isDecoding else { return nil }
            step.ends = true
        }
        isBusy = true
        return step
    }

    /// Handles the outcome of a step. Returns the open group's text if it changed or an utterance was decoded to its
    /// end.
    mutating func handle(
        _ outcome: Outcome, open: UtteranceCutter.Open?
    ) -> (id: Int, range: SampleRange, text: String)? {
        isBusy = false
        worker = outcome.worker
        if let text = outcome.text { texts[utterance] = text }
        if outcome.ends || worker == nil {
            utterance += 1
            isDecoding = false
        }
        guard let open else {
            texts = [:]
            return nil
        }
        texts = texts.filter { $0.key >= open.id }
        let text = texts.sorted { $0.key < $1.key }.map(\.value).filter { !$0.isEmpty }.joined(separator: " ")
        let previousText = reported.id == open.id ? reported.text : ""
        // The group may already be complete when the end of its last utterance is decoded.
        guard outcome.text != nil, text != previousText || (outcome.ends && !text.isEmpty),
            outcome.decodedUpTo > open.audio.start
        else { return nil }
        reported = (open.id, text)
        return (open.id, SampleRange(open.audio.start, outcome.decodedUpTo), text)
    }
}
