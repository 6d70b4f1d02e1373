import Core

/// Produces volatile text of the current speech with a worker of its own, which exists only while partial results are wanted.
///
/// Partial text comes from a streamed first pass over each utterance. The texts of the open group are joined until the
/// group is complete. The committed text comes from the whole group. A failure costs only the partials of one utterance.
struct PartialSession {
    struct Step: Sendable {
        fileprivate var command: WorkerCommand
        fileprivate var worker: Lease?
        fileprivate var ends: Bool
        fileprivate var begins: Bool
        fileprivate var adaptation: AdaptationState?
        fileprivate var samples: [Int16]
        fileprivate var readUpTo: SamplePosition

        func run() async -> Outcome {
            do {
                let worker = if let worker { worker } else { try await Lease.start(command) }
                let text = try await worker.blocking {
                    if ends { try worker.process.endPartials() }
                    if begins { try worker.process.beginPartials(adaptation: adaptation) }
                    return samples.isEmpty ? nil : try worker.process.partial(after: samples)
                }
                return Outcome(worker: worker, readUpTo: readUpTo, text: text)
            } catch {
                return Outcome(worker: nil, readUpTo: readUpTo, text: nil)
            }
        }
    }

    /// The result of a step; `worker` is nil after a failure.
    struct Outcome: Sendable {
        fileprivate var worker: Lease?
        fileprivate var readUpTo: SamplePosition
        fileprivate var text: String?
    }

    /// The minimum of new audio: 300 ms.
    private static let minAudio: Int64 = 4_800

    private let command: WorkerCommand
    private var worker: Lease?
    private var isBusy = false
    /// The utterance that the worker has started.
    private var reading: Int?
    /// The utterance on which the worker failed.
    private var failedUtterance: Int?
    private var readUpTo = SamplePosition.zero
    /// The texts of the open group's utterances, by ID.
    private var texts: [Int: String] = [:]
    private var reportedText = ""

    init(command: WorkerCommand) { self.command = command }

    /// Returns the next step; nil if there is nothing to do or a step is running.
    mutating func next(of cutter: UtteranceCutter, adaptation: AdaptationState?, wanted: Bool) -> Step? {
        guard !isBusy else { return nil }
        guard wanted else {
            worker = nil
            reading = nil
            texts = [:]
            return nil
        }
        let latest = cutter.latest.flatMap { $0.id == failedUtterance ? nil : $0 }
        let ends = reading != nil && reading != latest?.id
        if ends { reading = nil }
        var step = Step(
            command: command, worker: worker, ends: ends, begins: false, adaptation: adaptation, samples: [],
            readUpTo: readUpTo)
        // In a pause, also read a short rest, so that the text is complete.
        if let latest, reading != nil || texts[latest.id] == nil || latest.isSpeaking,
            latest.audio.end - (reading == nil ? latest.audio.start : readUpTo)
                >= (latest.isSpeaking ? Self.minAudio : 1)
        {
            if reading == nil {
                step.begins = true
                reading = latest.id
                readUpTo = latest.audio.start
            }
            step.samples = cutter.samples(of: SampleRange(readUpTo, latest.audio.end))
            readUpTo = latest.audio.end
            step.readUpTo = readUpTo
        }
        guard ends || step.begins || !step.samples.isEmpty else { return nil }
        isBusy = true
        return step
    }

    /// Handles a step's outcome; returns the open group's text if it changed.
    mutating func handle(
        _ outcome: Outcome, open: UtteranceCutter.Open?
    ) -> (id: Int, range: SampleRange, text: String)? {
        isBusy = false
        worker = outcome.worker
        guard outcome.worker != nil else {
            failedUtterance = reading
            reading = nil
            return nil
        }
        if let reading, let new = outcome.text { texts[reading] = new }
        guard let open else {
            texts = [:]
            return nil
        }
        texts = texts.filter { $0.key >= open.id }
        let text = texts.sorted { $0.key < $1.key }.map(\.value).filter { !$0.isEmpty }.joined(separator: " ")
        // The group may already be complete when the end of its last utterance is read.
        guard outcome.text != nil, text != reportedText, outcome.readUpTo > open.audio.start else { return nil }
        reportedText = text
        return (open.id, SampleRange(open.audio.start, outcome.readUpTo), text)
    }
}
