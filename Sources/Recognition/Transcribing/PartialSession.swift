import Core
import System

/// Volatile readings of what is being said, by a worker of its own that exists only while somebody listens.
///
/// They come from a streamed first pass over each utterance, and what the utterances of the open group read as is shown
/// together until it is complete; the committed text comes from the whole group. In a pause nothing is read. A failure costs
/// the partials of one utterance and nothing else.
struct PartialSession {
    /// A step that may take a while.
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
                let worker = if let worker { worker } else { try await started() }
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

        private func started() async throws -> Lease {
            try await onThread(named: "worker-start") { try Lease(WorkerProcess(command), command) }
        }
    }

    /// What a step came to; without a worker where it failed.
    struct Outcome: Sendable {
        fileprivate var worker: Lease?
        fileprivate var readUpTo: SamplePosition
        fileprivate var text: String?
    }

    /// New audio is read in pieces of 300 ms or more.
    private static let leastAudio: Int64 = 4_800

    private let command: WorkerCommand
    private var worker: Lease?
    private var isBusy = false
    /// The utterance that the worker has begun.
    private var reading: Int?
    /// The utterance on which the worker failed.
    private var given: Int?
    private var readUpTo = SamplePosition.zero
    /// What the utterances of the open group read as, by their numbers.
    private var texts: [Int: String] = [:]
    private var told = ""

    init(command: WorkerCommand) { self.command = command }

    /// The next step, where there is something to do and none is under way.
    mutating func next(of cutter: UtteranceCutter, adaptation: AdaptationState?, wanted: Bool) -> Step? {
        guard !isBusy else { return nil }
        guard wanted else {
            worker = nil
            reading = nil
            texts = [:]
            return nil
        }
        let latest = cutter.latest.flatMap { $0.id == given ? nil : $0 }
        let ends = reading != nil && reading != latest?.id
        if ends { reading = nil }
        var step = Step(
            command: command, worker: worker, ends: ends, begins: false, adaptation: adaptation, samples: [],
            readUpTo: readUpTo)
        // In a pause the rest is read as well, however short: what was said is then complete.
        if let latest, reading != nil || texts[latest.id] == nil || latest.isSpeaking,
            latest.audio.end - (reading == nil ? latest.audio.start : readUpTo)
                >= (latest.isSpeaking ? Self.leastAudio : 1)
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

    /// Takes a step's outcome; returns the new reading of the group that is still open, where it changed.
    mutating func take(
        _ outcome: Outcome, open: UtteranceCutter.Open?
    ) -> (id: Int, range: SampleRange, text: String)? {
        isBusy = false
        worker = outcome.worker
        guard outcome.worker != nil else {
            given = reading
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
        // The end of an utterance may be read when its group is complete already.
        guard outcome.text != nil, text != told, outcome.readUpTo > open.audio.start else { return nil }
        told = text
        return (open.id, SampleRange(open.audio.start, outcome.readUpTo), text)
    }
}
