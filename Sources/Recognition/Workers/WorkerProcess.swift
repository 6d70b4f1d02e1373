import Core
import FoundationEssentials
import Glibc
import System

/// The command that starts a decode worker: a program that speaks `WorkerProtocol`.
package struct WorkerCommand: Hashable, Sendable {
    var path: String
    /// The arguments without the program's name.
    var arguments: [String]

    /// Whether the program supports `--copies N`.
    var makesCopies: Bool

    /// The model's folder, for error messages.
    var model: String

    /// The name of the worker's settings, which distinguishes passes.
    var profile: String

    /// The engine to run in this process; nil to run the program.
    var local: LocalEngine?

    package init(
        path: String, arguments: [String], model: String, profile: String = "live", makesCopies: Bool = false
    ) {
        self.path = path
        self.arguments = arguments
        self.model = model
        self.profile = profile
        self.makesCopies = makesCopies
    }

    /// Creates a command that runs an engine on a thread of this process.
    package init(local: LocalEngine, model: String, profile: String = "live") {
        self.init(path: "", arguments: [], model: model, profile: profile)
        self.local = local
    }
}

/// The parent's side of one worker process.
final class WorkerProcess: Worker {
    /// The time limit for a request, even if the worker sends other replies. On the smallest boards, decoding takes
    /// longer than the audio lasts.
    struct Timeout: Sendable {
        var seconds = 60
        var timesAudio = 40

        func seconds(for samples: Int) -> Int { seconds + samples * timesAudio / SamplePosition.rate }
    }

    /// The time limit for loading a model, in seconds. It is long because an export may keep the card busy, and the
    /// worker may have a low priority.
    private static let loadingSeconds = 300

    /// The maximum number of samples in a frame, which keeps frames below the protocol's limit.
    private static let samplesPerFrame = 30 * SamplePosition.rate

    private(set) var engine: EngineDescription
    private var copies: [Int32] = []
    private let child: ChildProcess
    private var replies = WorkerReplies()
    private var partCount = 0
    private let timeout: Timeout
    /// The deadline of the current request, in monotonic nanoseconds.
    private var deadline = Int64.max
    /// The timeout of the current request in seconds, for messages.
    private var timeoutSeconds = 0
    private var stall: WorkerStall
    private static let remedy = "it will be restarted"

    /// Starts the worker and waits until its model is loaded.
    ///
    /// - Parameters:
    ///   - copies: the pipes for the copies that the worker forks after it has loaded the model.
    ///   - seconds: the time limit for loading.
    ///   - pace: the pace that all workers of a pool share.
    /// - Throws: the engine's `DeviceError` with `missing` or `damaged` for its model; `failed` after a timeout.
    init(
        _ command: WorkerCommand, copies: [ChildPipes] = [], within seconds: Int = loadingSeconds,
        timeout: Timeout = Timeout(), pace: WorkerPace = WorkerPace()
    ) throws {
        self.timeout = timeout
        stall = WorkerStall(timeout.seconds, pace)
        child = try ChildProcess(
            command.path,
            arguments: command.arguments + (copies.isEmpty ? [] : ["--copies", "\(copies.count)"]),
            remedy: Self.remedy, copies: copies)
        engine = EngineDescription(name: "", version: "", model: "")
        engine = try ready(within: seconds)
    }

    /// Starts workers that share their model, or a single worker if the program does not support this.
    ///
    /// - Parameter count: the number of workers, 1 or more. Fewer are started if it exceeds the limit of
    ///   `ProcessCopies` or a copy fails to start.
    static func start(
        _ command: WorkerCommand, count: Int, pace: WorkerPace = WorkerPace()
    ) throws -> [WorkerProcess] {
        guard command.makesCopies, count > 1 else { return [try WorkerProcess(command, pace: pace)] }
        let pipes = try (1..<min(count, 1 + ProcessCopies.maximumCount)).map { _ in
            try ChildPipes(to: command.path, remedy: Self.remedy)
        }
        let first = try WorkerProcess(command, copies: pipes, pace: pace)
        return [first]
            + zip(first.copies, pipes).compactMap { id, pipes in try? WorkerProcess(copy: id, pipes, of: first) }
    }

    private init(copy id: Int32, _ pipes: ChildPipes, of first: WorkerProcess) throws {
        timeout = first.timeout
        stall = WorkerStall(timeout.seconds, first.stall.pace)
        child = try ChildProcess(adopting: id, pipes)
        engine = first.engine
    }

    var id: Int32 { child.id }

    // A worker in use has not been reaped, so no other process has its ID.
    func kill() { _ = Glibc.kill(id, SIGKILL) }

    func open(adaptation: AdaptationState?, alternatives: Int, parts: [SampleRange]) throws {
        let request = WorkerProtocol.Request(
            alternatives: alternatives, adaptation: adaptation, parts: parts.isEmpty ? nil : parts)
        partCount = parts.count
        setDeadline(timeout.seconds)
        try send(.request, JSONEncoder().encode(request))
    }

    /// Sends more of the utterance. Blocks while the pipe is full.
    func append(_ samples: [Int16]) throws {
        setDeadline(timeout.seconds(for: samples.count))
        try send(samples)
    }

    func close(_ samples: Int) throws -> WorkerProtocol.Reply {
        setDeadline(timeout.seconds(for: samples))
        stall.begin(samples)
        try send(.end, Data())
        return try next(within: samples)
    }

    func survey(_ samples: [Int16], into state: AdaptationState?) throws -> WorkerPool.SurveyResult? {
        let request = WorkerProtocol.Request(adaptation: state, survey: true)
        setDeadline(timeout.seconds(for: samples.count))
        try send(.request, JSONEncoder().encode(request))
        try send(samples)
        try send(.end, Data())
        var reply = try next(within: samples.count)
        let surveyed = reply.adaptation.map { WorkerPool.SurveyResult(state: $0, candidates: reply.candidates ?? []) }
        while reply.result == nil {
            if let failure = reply.error { throw DeviceError(failure) }
            reply = try next(within: samples.count)
        }
        return surveyed
    }

    func finish(_ samples: Int, after reply: WorkerProtocol.Reply) throws -> WorkerProtocol.Result {
        var reply = reply
        // Keep the deadline from `close`, but allow at least the basic timeout from now, so that replies that have
        // already arrived can be read.
        let previousDeadline = deadline
        setDeadline(timeout.seconds)
        deadline = max(deadline, previousDeadline)
        while true {
            if let failure = reply.error { throw DeviceError(failure) }
            if let result = reply.result {
                stall.end()
                return result
            }
            reply = try next(within: samples)
        }
    }

    func beginPartials(adaptation: AdaptationState?) throws {
        setDeadline(timeout.seconds)
        try send(.request, JSONEncoder().encode(WorkerProtocol.Request(partials: true, adaptation: adaptation)))
    }

    func partial(after samples: [Int16], isComplete: Bool) throws -> String {
        var text = ""
        setDeadline(timeout.seconds(for: samples.count))
        // The worker answers each frame.
        for frame in Self.frames(of: samples) + (isComplete ? [Data()] : []) {
            try send(.audio, frame)
            let reply = try next(within: samples.count)
            if let failure = reply.error { throw DeviceError(failure) }
            text = reply.partial ?? ""
        }
        return text
    }

    func endPartials() throws {
        setDeadline(timeout.seconds)
        try send(.end, Data())
        while try next(within: 0).done != true {}
    }

    private func ready(within seconds: Int) throws -> EngineDescription {
        let reply: WorkerProtocol.Reply?
        setDeadline(seconds)
        do { reply = try next(within: 0) } catch let error as DeviceError
            // Report a timeout as a timeout, because the next attempt may succeed in time.
            where error.code != .failed || error.status == ETIMEDOUT
        {
            throw error
        } catch { reply = nil }
        if let failure = reply?.error { throw DeviceError(failure) }
        guard let engine = reply?.ready else {
            throw DeviceError(
                .unsupported, "decode-worker", on: child.name, "does not speak the decode-worker protocol",
                remedy: "set recognizer.engine to pocketsphinx")
        }
        copies = reply?.copies ?? []
        return engine
    }

    private func send(_ samples: [Int16]) throws {
        for frame in Self.frames(of: samples) { try send(.audio, frame) }
    }

    private static func frames(of samples: [Int16]) -> [Data] {
        stride(from: 0, to: samples.count, by: samplesPerFrame).map { start in
            // Frames are little-endian, like all supported machines.
            samples[start..<min(samples.count, start + samplesPerFrame)].withUnsafeBytes { Data($0) }
        }
    }

    private func send(_ kind: WorkerProtocol.Frame, _ payload: Data) throws {
        var frame = Data(capacity: payload.count + 5)
        frame.append(kind.rawValue)
        withUnsafeBytes(of: UInt32(payload.count).littleEndian) { frame.append(contentsOf: $0) }
        frame.append(payload)
        let seconds = try remainingSeconds
        try frame.withUnsafeBytes { bytes in
            try child.pipes.write(bytes, timeoutSeconds: seconds) { () throws(DeviceError) in try stall.watch(child) }
        }
    }

    /// Sets the deadline for the whole request. Neither a stream of other replies nor single bytes can extend it.
    private func setDeadline(_ seconds: Int) {
        timeoutSeconds = seconds
        stall.restart()
        deadline = MonotonicClock.nanoseconds + Int64(seconds) * 1_000_000_000
    }

    /// The remaining seconds, 1 or more.
    private var remainingSeconds: Int {
        get throws {
            let remaining = deadline - MonotonicClock.nanoseconds
            guard remaining > 0 else {
                throw DeviceError(
                    .failed, "poll", status: ETIMEDOUT, on: child.name,
                    "did not finish within \(timeoutSeconds) s (process \(id))",
                    remedy: Self.remedy)
            }
            return Int((remaining + 999_999_999) / 1_000_000_000)
        }
    }

    /// Waits for the next reply and limits its words to the first `samples` samples.
    private func next(within samples: Int) throws -> WorkerProtocol.Reply {
        while true {
            do {
                if let reply = try replies.next(within: samples, parts: partCount) { return reply }
            } catch {
                throw DeviceError(
                    .failed, "decode-worker", "the decode worker (process \(id)) sent an invalid reply",
                    remedy: "the utterance will be decoded again")
            }
            let seconds = try remainingSeconds
            let bytes = try child.pipes.read(timeoutSeconds: seconds) { () throws(DeviceError) in
                try stall.watch(child)
            }
            guard !bytes.isEmpty else {
                throw DeviceError(
                    .disconnected, "decode-worker", "the decode worker (process \(id)) ended unexpectedly")
            }
            replies.append(bytes)
        }
    }
}

extension WorkerCommand {
    /// Checks that a worker can load its model, by starting and stopping one.
    ///
    /// - Throws: the worker's error, such as `missing` or `damaged` for the model.
    package func load() throws(DeviceError) {
        do { _ = try WorkerProcess.start(self, count: 1) } catch { throw DeviceError(wrapping: error) }
    }
}
