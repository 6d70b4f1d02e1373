import Core
import Platform

/// Volatile readings of what is being said, by a worker of its own that exists only while somebody listens.
///
/// They come from a streamed first pass over the open group, from its first utterance over the pauses until it is complete;
/// the committed text comes from the whole group. In a pause nothing is read. A failure costs the partials of one group and
/// nothing else.
struct PartialSession {
    /// A step that may take a while.
    struct Step: Sendable {
        fileprivate var command: WorkerCommand
        fileprivate var worker: Lease?
        fileprivate var ends: Bool
        fileprivate var begins: Bool
        fileprivate var channel: AdaptationState?
        fileprivate var samples: [Int16]
        fileprivate var range: SampleRange

        func run() async -> Outcome {
            do {
                return try await onThread(named: "partial") {
                    let worker = try worker ?? Lease(WorkerProcess(command), command)
                    if ends { try worker.process.endPartials() }
                    if begins { try worker.process.beginPartials(channel: channel) }
                    let text = samples.isEmpty ? nil : try worker.process.partial(after: samples)
                    return Outcome(worker: worker, range: range, text: text)
                }
            } catch {
                return Outcome(worker: nil, range: range, text: nil)
            }
        }
    }

    /// What a step came to; without a worker where it failed.
    struct Outcome: Sendable {
        fileprivate var worker: Lease?
        fileprivate var range: SampleRange
        fileprivate var text: String?
    }

    /// New audio is read in pieces of 300 ms or more.
    private static let leastAudio: Int64 = 4_800

    private let command: WorkerCommand
    private var worker: Lease?
    private var isBusy = false
    /// The group that the worker has begun, by its first utterance.
    private var reading: Int?
    /// The group on which the worker failed.
    private var given: Int?
    private var readUpTo = SamplePosition.zero
    private var text = ""

    init(command: WorkerCommand) { self.command = command }

    /// The next step, where there is something to do and none is under way.
    mutating func next(of cutter: UtteranceCutter, channel: AdaptationState?, wanted: Bool) -> Step? {
        guard !isBusy else { return nil }
        guard wanted else {
            worker = nil
            reading = nil
            return nil
        }
        let open = cutter.open.flatMap { $0.id == given ? nil : $0 }
        let ends = reading != nil && reading != open?.id
        if ends { reading = nil }
        var step = Step(
            command: command, worker: worker, ends: ends, begins: false, channel: channel, samples: [],
            range: SampleRange(readUpTo, readUpTo))
        // In a pause the rest is read as well, however short: what was said is then complete.
        if let open,
            open.audio.end - (reading == nil ? open.audio.start : readUpTo) >= (open.isSpeaking ? Self.leastAudio : 1)
        {
            if reading == nil {
                step.begins = true
                reading = open.id
                readUpTo = open.audio.start
                text = ""
            }
            step.samples = cutter.samples(of: SampleRange(readUpTo, open.audio.end))
            readUpTo = open.audio.end
            step.range = SampleRange(open.audio.start, readUpTo)
        }
        guard ends || step.begins || !step.samples.isEmpty else { return nil }
        isBusy = true
        return step
    }

    /// Takes a step's outcome; returns the new reading of the group that is still open, where it changed.
    mutating func take(_ outcome: Outcome, open: Int?) -> (id: Int, range: SampleRange, text: String)? {
        isBusy = false
        worker = outcome.worker
        guard outcome.worker != nil else {
            given = reading
            reading = nil
            return nil
        }
        guard let reading, reading == open, let new = outcome.text, new != text else { return nil }
        text = new
        return (reading, outcome.range, new)
    }
}
