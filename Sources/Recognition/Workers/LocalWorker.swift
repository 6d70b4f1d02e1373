import Core
import Glibc
import Synchronization

/// An engine that runs in the calling process, for `WorkerCommand.init(local:)`. Instances are compared by identity.
package final class LocalEngine: Hashable, Sendable {
    let provider: any RecognizerProvider
    private let resource: (any Sendable)?

    /// - Parameters:
    ///   - provider: opens the engine on the thread that uses it.
    ///   - resource: an object to retain as long as the engine may be opened.
    package init(_ provider: any RecognizerProvider, keeping resource: (any Sendable)? = nil) {
        self.provider = provider
        self.resource = resource
    }

    package static func == (left: LocalEngine, right: LocalEngine) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A recognizer on a thread of this process, with the same results as in a `DecodeWorker`.
///
/// If the engine's library aborts, so does this process.
// Safety: the pool gives a worker to one thread at a time; `kill` only sets an atomic value.
final class LocalWorker: Worker, @unchecked Sendable {
    private let recognizer: any Recognizer
    private let isKilled = Atomic<Bool>(false)
    private var options = RecognitionOptions()
    private var samples: [Int16] = []
    private var reportedCPUSeconds = 0.0

    init(_ provider: any RecognizerProvider) throws(DeviceError) { recognizer = try provider.open() }

    var engine: EngineDescription { recognizer.engine }
    var id: Int32 { getpid() }

    private var adaptiveRecognizer: (any Adaptation)? { recognizer as? any Adaptation }
    private var partialRecognizer: (any PartialRecognizer)? { recognizer as? any PartialRecognizer }

    func open(adaptation: AdaptationState?, alternatives: Int, parts: [SampleRange]) throws {
        options = RecognitionOptions(alternatives: alternatives, parts: parts)
        samples.removeAll(keepingCapacity: true)
        try adaptiveRecognizer?.begin(from: adaptation)
    }

    func append(_ samples: [Int16]) throws {
        guard let adaptiveRecognizer else {
            self.samples += samples
            return
        }
        try samples.withUnsafeBufferPointer { try adaptiveRecognizer.append($0) }
        try search(adaptiveRecognizer)
    }

    func close(_ samples: Int) throws -> WorkerProtocol.Reply {
        guard let state = try adaptiveRecognizer?.close() else { return WorkerProtocol.Reply(heard: true) }
        return WorkerProtocol.Reply(adaptation: state)
    }

    func finish(_ samples: Int, after reply: WorkerProtocol.Reply) throws -> WorkerProtocol.Result {
        let hypothesis: Hypothesis
        if let adaptiveRecognizer {
            try search(adaptiveRecognizer)
            hypothesis = try adaptiveRecognizer.finish(alternatives: options.alternatives)
        } else {
            try checkKilled()
            hypothesis = try self.samples.withUnsafeBufferPointer { try recognizer.recognize($0, options: options) }
        }
        try checkKilled()
        var result = WorkerProtocol.Result(hypothesis, cpuSeconds: cpuSinceReport())
        result.normalize(within: Int64(samples), parts: options.parts.count)
        return result
    }

    func survey(_ samples: [Int16], into state: AdaptationState?) throws -> WorkerPool.SurveyResult? {
        try checkKilled()
        guard let adaptiveRecognizer,
            let state = try samples.withUnsafeBufferPointer({ try adaptiveRecognizer.survey($0, into: state) })
        else { return nil }
        return WorkerPool.SurveyResult(state: state, candidates: adaptiveRecognizer.candidates)
    }

    func beginPartials(adaptation: AdaptationState?) throws { try partialRecognizer?.beginPartials(from: adaptation) }

    func partial(after samples: [Int16], isComplete: Bool) throws -> String {
        try checkKilled()
        let text = try samples.withUnsafeBufferPointer { try partialRecognizer?.partial(after: $0) }
        guard isComplete else { return text ?? "" }
        return try partialRecognizer?.partial(after: UnsafeBufferPointer(start: nil, count: 0)) ?? ""
    }

    func endPartials() throws { try partialRecognizer?.endPartials() }

    /// Stops the search before its next step. A running call of the engine is not interrupted.
    func kill() { isKilled.store(true, ordering: .relaxed) }

    private func checkKilled() throws {
        if isKilled.load(ordering: .relaxed) { throw CancellationError() }
    }

    /// Searches the appended samples, in steps that `kill` can interrupt.
    private func search(_ adaptiveRecognizer: any Adaptation) throws {
        repeat { try checkKilled() } while try adaptiveRecognizer.search()
    }

    /// The CPU time of this thread since the last result.
    private func cpuSinceReport() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        let before = reportedCPUSeconds
        reportedCPUSeconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        return reportedCPUSeconds - before
    }
}
